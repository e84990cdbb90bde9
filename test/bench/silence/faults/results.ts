import { z } from 'zod'
import { type Fault, text } from '../fault.ts'

const returns = (id: string, what: string, cause: RegExp, value: () => unknown): Fault => ({
  id,
  what,
  group: 'results',
  cause,
  tool: { run: value },
})

const withSchema = (id: string, what: string, cause: RegExp, value: () => unknown): Fault => ({
  id,
  what,
  group: 'results',
  cause,
  tool: { output: { n: z.number() }, run: value },
})

const circular = (): Record<string, unknown> => {
  const loop: Record<string, unknown> = { rows: 3 }
  loop.self = loop
  return loop
}

/** Stands for a database that fails; what the tool makes of that is the fault. */
const failing = async (): Promise<unknown[]> => {
  throw new Error('connection to the database lost')
}

/** As the protocol advises: the data, and its JSON as text. */
const both = (data: Record<string, unknown>) => ({
  ...text(JSON.stringify(data)),
  structuredContent: data,
})

const LOST = /lost|JSON/

/** Legal, and as empty as an honest "nothing found": who adds words may say no more than that. */
const saysNothing = (id: string, what: string, value: () => unknown): Fault => ({
  ...returns(id, what, /empty|failed/, value),
  warning: /failed without/,
})

/** Results that are no results, or that lose what they were to say. */
export const resultFaults: Fault[] = [
  returns('returns_undefined', 'returns nothing', /undefined/, async () => undefined),
  returns('returns_null', 'returns null', /null/, async () => null),
  returns('returns_text', 'returns a bare string', /string/, async () => 'plain words'),
  returns('returns_array', 'returns the blocks without an object', /array/, async () => [
    { type: 'text', text: 'a' },
  ]),
  returns('plain_data', 'returns its data, no content', /content/, async () => ({
    success: true,
    rows: [1, 2, 3],
  })),
  returns('nested_result', 'nests the content in toolResult', /content/, async () => ({
    toolResult: text('42 invoices'),
  })),
  returns('empty_object', 'returns {}', /content/, async () => ({})),
  returns('content_is_text', 'content is a string', /content/, async () => ({ content: 'words' })),
  returns('content_null', 'content is null', /content/, async () => ({ content: null })),
  returns('block_json', 'a block of type json', /content\W+0\W+type|type.*json/s, async () => ({
    content: [{ type: 'json', json: { a: 1 } }],
  })),
  returns('block_error', 'a block of type error', /content\W+0\W+type|type.*error/s, async () => ({
    content: [{ type: 'error', text: 'x' }],
  })),
  returns('block_no_text', 'text is JSON.stringify(undefined)', /text/, async () => ({
    content: [{ type: 'text', text: JSON.stringify(undefined) }],
  })),
  returns('block_no_mime', 'an image without mimeType', /mimeType/, async () => ({
    content: [
      { type: 'text', text: 'ok' },
      { type: 'image', data: 'AA' },
    ],
  })),
  returns('is_error_text', "isError is the text 'true'", /isError/, async () => ({
    content: [{ type: 'text', text: 'quota exceeded' }],
    isError: 'true',
  })),
  returns('silent_error', 'isError without a word', /no reason|without/, async () => ({
    isError: true,
  })),
  returns('structured_array', 'structuredContent is an array', /structuredContent/, async () => ({
    content: [],
    structuredContent: [1, 2],
  })),
  returns('bigint', 'a BigInt in structuredContent', /BigInt/, async () => ({
    content: [],
    structuredContent: { id: 9007199254740993n },
  })),
  returns('bigint_meta', 'a BigInt in _meta', /BigInt/, async () => ({
    ...text('saved'),
    _meta: { revision: 1n },
  })),
  returns('circular', 'a circular structure', /circular/i, async () => ({
    content: [],
    structuredContent: circular(),
  })),
  returns('to_json_throws', 'a value whose toJSON throws', /toJSON|detached/, async () => ({
    ...text('saved'),
    structuredContent: {
      document: {
        toJSON() {
          throw new Error('document is detached')
        },
      },
    },
  })),
  returns('getter_throws', 'a lazy getter that throws', /rows|cursor/, async () => ({
    ...text('found'),
    structuredContent: {
      get rows() {
        throw new Error('cursor is closed')
      },
    },
  })),
  {
    ...returns('huge_result', 'a result of 11 MiB', /MiB|large|big/, async () =>
      text('x'.repeat(11 * 1024 * 1024)),
    ),
    ownProcess: true,
  },
  withSchema('schema_no_data', 'output schema, no data', /structured content/, () => text('done')),
  withSchema('schema_wrong', 'output schema, wrong type', /expected number/, () => ({
    content: [],
    structuredContent: { n: 'x' },
  })),
  withSchema('schema_unchecked', 'wrong type, no content key', /expected number/, () => ({
    structuredContent: { n: 'x' },
  })),
  withSchema('schema_undefined', 'output schema, returns nothing', /undefined/, () => undefined),
  saysNothing('empty_content', 'swallows its error: content []', async () => ({
    content: (await failing().catch(() => [])) as never,
  })),
  saysNothing('blank_text', "swallows its error: text ''", async () =>
    text((await failing().catch(() => [])).join('\n')),
  ),
  saysNothing('blank_lines', 'only line ends', async () => text('\n\n')),
  saysNothing('no_rows', "swallows its error: text '[]'", async () =>
    text(JSON.stringify(await failing().catch(() => []))),
  ),
  saysNothing('no_value', "swallows its error: text 'undefined'", async () =>
    text(`${await failing().catch(() => undefined)}`),
  ),
  saysNothing('null_text', "swallows its error: text 'null'", async () =>
    text(JSON.stringify(await failing().catch(() => null))),
  ),
  saysNothing('no_await_json', "a forgotten await: text '{}'", async () =>
    text(JSON.stringify(Promise.resolve([1, 2, 3]))),
  ),
  returns('no_await_text', "a forgotten await: '[object Promise]'", /Promise/, async () =>
    text(`${Promise.resolve('42')}`),
  ),
  returns('object_text', "an object as text: '[object Object]'", /object/i, async () =>
    text(`${{ rows: 3 }}`),
  ),
  returns('error_to_json', 'an Error in data, which JSON makes {}', LOST, async () =>
    both({ result: new Error('quota used up') }),
  ),
  returns('map_to_json', 'a Map in data, which JSON makes {}', LOST, async () =>
    both({ rows: new Map([['a', 1]]) }),
  ),
  returns('nan_to_json', 'NaN in data, which JSON makes null', LOST, async () =>
    both({ total: Number('1.234,50') }),
  ),
]
