/**
 * Whether a term is valid is read from here and nowhere else: one table of numbers, written by the engine's side and read by the user's.
 * It holds the deadline of the client's session, and for each running term its id. Plain memory today; over a `SharedArrayBuffer` a
 * thread that comes out of a long loop reads the truth before it has read a single message.
 *
 * A reader takes the deadline first and the term's cell second: a cell that still bears the term's id then says that the deadline was of
 * the term's own session. Ids are never used twice, so a cell may be given to another term at once.
 */
const CELLS_PER_PAGE = 256

/** Where one term's id stands while it runs. */
export interface TermCell {
  readonly page: Float64Array
  readonly index: number
}

export class ValidityTable {
  private readonly session = new Float64Array([Number.NEGATIVE_INFINITY])
  private readonly free: TermCell[] = []
  private readonly cells = new Map<number, TermCell>()

  /** The deadline of the session; `-Infinity` without one. */
  get deadline(): number {
    return this.session[0] ?? Number.NEGATIVE_INFINITY
  }

  setDeadline(at: number): void {
    this.session[0] = at
  }

  begin(term: number): TermCell {
    const cell = this.free.pop() ?? this.addPage()
    cell.page[cell.index] = term
    this.cells.set(term, cell)
    return cell
  }

  end(term: number): void {
    const cell = this.cells.get(term)
    if (cell === undefined) return
    this.cells.delete(term)
    cell.page[cell.index] = 0
    this.free.push(cell)
  }

  private addPage(): TermCell {
    const page = new Float64Array(CELLS_PER_PAGE)
    for (let index = CELLS_PER_PAGE - 1; index > 0; index -= 1) this.free.push({ page, index })
    return { page, index: 0 }
  }
}
