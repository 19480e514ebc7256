import { expect, test } from 'vitest'
import { OptionError, parseOptions } from '../src/options.js'

test('without options three nodes play for half a minute, with a lease of three seconds', () => {
  expect(parseOptions([])).toEqual({ json: false, nodes: 3, seconds: 30, leaseMs: 3_000, backend: 'sqlite' })
})

test('options are taken in both forms', () => {
  const options = parseOptions([
    '--json',
    '--nodes=5',
    '--seconds',
    '60',
    '--lease',
    '1.5s',
    '--backend',
    'sqlite',
  ])
  expect(options).toEqual({ json: true, nodes: 5, seconds: 60, leaseMs: 1_500, backend: 'sqlite' })
  expect(parseOptions(['--json', '--help'])).toBe('help')
})

test.each([
  [
    ['--fast'],
    'There is no option --fast; there are --nodes, --seconds, --lease, --backend, --json, --help.',
  ],
  [['-x'], 'There is no option -x; there are --nodes, --seconds, --lease, --backend, --json, --help.'],
  [['quickly'], '"quickly" is not an option.'],
  [
    ['--nodes', '2'],
    '--nodes is "2"; it must be a whole number from 3 to 9 (with fewer than 3 nobody is left to take over).',
  ],
  [
    ['--nodes', 'many'],
    '--nodes is "many"; it must be a whole number from 3 to 9 (with fewer than 3 nobody is left to take over).',
  ],
  [['--seconds', '0'], '--seconds is "0"; it must be a whole number from 1 to 3600.'],
  [['--seconds', '-5'], '--seconds is "-5"; it must be a whole number from 1 to 3600.'],
  [['--lease', '3'], '--lease is "3"; it must be a time from 500ms to 60s, such as 3s or 1500ms.'],
  [['--lease', '100ms'], '--lease is "100ms"; it must be a time from 500ms to 60s, such as 3s or 1500ms.'],
  [['--lease'], '--lease needs a value.'],
  [['--json=yes'], '--json takes no value; given was "yes".'],
  [['--backend', 'oracle'], '--backend is "oracle"; there are: sqlite.'],
])('%j is refused, with what is allowed', (args, message) => {
  expect(() => parseOptions(args)).toThrow(new OptionError(message))
})
