import type { Step } from './engine.js'
import { seamed } from './engine-seam.js'

const url = new URL(import.meta.url).searchParams.get('own')
if (url === null)
  throw new Error('watched-step.js is loaded by engine-resolver.js only, which tells where the engine is.')
const own: { readonly step: Step } = await import(url)

export const step: Step = seamed(own.step)
