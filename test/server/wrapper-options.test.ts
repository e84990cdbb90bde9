import assert from 'node:assert/strict'
import { test } from 'node:test'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { type UnsilenceOptions, unsilence } from '../../server/index.ts'
import { settingsFrom } from '../../server/wrapper/options.ts'

const refused: [unknown, RegExp][] = [
  [{ log: './logs' }, /no option `log`\. Did you mean `logs`\?/],
  [{ unknown_arguments: 'warn' }, /Did you mean `unknownArguments`\?/],
  [{ frobnicate: 1 }, /no option `frobnicate`\. There are: `errorText`/],
  [{ suspect: true }, /`suspect` must be 'flag' or 'error'/],
  [{ logs: '' }, /`logs` must be the path of a directory, or false/],
  [{ timeout: '30 parsecs' }, /`timeout` must be milliseconds above 0 or a text like '30s'/],
  [{ timeout: -1 }, /`timeout`/],
  [
    { tools: { pay: { retryy: true } } },
    /no option `retryy` of tool `pay`\. Did you mean `retry`\?/,
  ],
  [{ tools: { pay: true } }, /options of tool `pay` must be an object/],
  [{ server: { name: 'x' } }, /`server` must be \{ name/],
  [{ retry: { attempts: 0 } }, /attempts/],
  ['./logs', /must be an object/],
]
for (const [options, words] of refused) {
  test(`the options ${JSON.stringify(options)} are refused with words`, () => {
    const server = new McpServer({ name: 'shop', version: '1' })
    assert.throws(() => unsilence(server, options as never), words)
  })
}

test('something that is no server is refused', () => {
  assert.throws(() => unsilence({} as never), /takes an McpServer or a Server/)
})

test('options of a tool stand above the general ones', () => {
  const settings = settingsFrom({
    suspect: 'error',
    timeout: '2m',
    tools: { pay: { suspect: 'flag', timeout: false }, find: { retry: true } },
  })
  assert.equal(settings.forTool('pay').suspect, 'flag')
  assert.equal(settings.forTool('pay').timeoutMs, undefined)
  assert.equal(settings.forTool('find').suspect, 'error')
  assert.equal(settings.forTool('find').retry, true)
  assert.equal(settings.forTool('other').timeoutMs, 120_000)
})

test('empty follows suspect, unless it is set', () => {
  const emptyOf = (options: UnsilenceOptions, tool = 'any') =>
    settingsFrom(options).forTool(tool).empty
  assert.equal(emptyOf({ suspect: 'error' }), 'warn')
  assert.equal(emptyOf({ suspect: 'error', empty: 'flag' }), 'flag')
  assert.equal(emptyOf({ suspect: 'error', tools: { any: { empty: 'error' } } }), 'error')
  assert.equal(emptyOf({ tools: { any: { suspect: 'error' } } }), 'warn')
  assert.equal(emptyOf({ tools: { any: { suspect: 'error' } } }, 'other'), 'flag')
  assert.equal(emptyOf({ empty: 'error', tools: { any: { suspect: 'flag' } } }), 'error')
})

test('the defaults are those that are documented', () => {
  const { errorText, unknownArguments, suspect, empty, timeoutMs } = settingsFrom().forTool('any')
  assert.deepEqual(
    { errorText, unknownArguments, suspect, empty, timeoutMs },
    {
      errorText: 'generic',
      unknownArguments: 'warn',
      suspect: 'flag',
      empty: 'flag',
      timeoutMs: undefined,
    },
  )
})
