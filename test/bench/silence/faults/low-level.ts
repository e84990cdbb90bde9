import { type Fault, type FaultCall, type Tool, text } from '../fault.ts'

const low = (
  id: string,
  what: string,
  cause: RegExp,
  run: Tool['run'],
  call: FaultCall = {},
): Fault => ({
  id,
  what,
  group: 'low-level',
  cause,
  call,
  lowLevel: true,
  tool: { run },
})

/** Faults of servers that handle `tools/call` by hand, where no SDK checks anything. */
export const lowLevelFaults: Fault[] = [
  low('low_throws', 'an Error', /Missing API key/, () => {
    throw new Error('Missing API key')
  }),
  low('low_throws_null', 'throws null', /null/, () => {
    throw null
  }),
  low('low_throws_undefined', 'throws undefined', /undefined/, () => {
    throw undefined
  }),
  low('low_throws_text', 'throws a string', /bad thing/, () => {
    throw 'bad thing'
  }),
  low('low_type_error', 'a missing argument it reads', /length|undefined|address/, (args) =>
    text(String((args.address as string).length)),
  ),
  low('low_undefined', 'returns nothing', /undefined/, () => undefined),
  low('low_plain_data', 'returns its data', /content/, () => ({ rows: [1, 2] })),
  low('low_bad_block', 'a block of type json', /type/, () => ({
    content: [{ type: 'json', json: 1 }],
  })),
  low('low_bigint', 'a BigInt', /BigInt/, () => ({ content: [], structuredContent: { id: 1n } })),
  low('low_error_text', 'its catch returns the error as text', /error/i, () =>
    text('Error: invoice service timed out'),
  ),
  low(
    'low_unknown',
    'an unknown tool falls through its switch',
    /no tool|unknown|not found/i,
    () => undefined,
    {
      tool: 'low_no_such_tool',
    },
  ),
  low('low_null_arguments', 'arguments: null', /object|null/, (args) => text(String(args.q)), {
    args: null,
  }),
]
