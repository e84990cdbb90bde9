import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isInstalled } from '../install-packages.ts'
import { readCalls } from '../server/demo-log.ts'
import { EXAMPLES, type ExampleCall, type ExampleServer, exampleServers } from './servers.ts'
import { type Answer, type ListedTool, openSession, type Session } from './session.ts'

/**
 * Each official example server, alone and wrapped, is asked the same. Where the answers differ, the
 * difference is one of those below, and exactly that.
 */
type Kind =
  /** As its authors meant it: the same, except where the tool throws. */
  | 'sound'
  /** An argument that the tool does not have, which the SDK drops: one text block more. */
  | 'unknown key'
  /** An argument of the wrong type: the same isError, in words for the model. */
  | 'wrong type'
  /** Arguments that are no object: isError in place of a JSON-RPC error. */
  | 'no object'

type Exchange = { kind: Kind; call: ExampleCall; args: unknown; answer: Answer }

const ways = ['not', 'before', 'after'] as const
const skip = isInstalled(EXAMPLES) ? false : 'run `npm run examples`, which installs them'

for (const server of exampleServers) {
  test(`${server.name} is the same to its client, wrapped before or after its tools`, {
    skip,
  }, async (t) => {
    const [bare, ...wrapped] = await Promise.all(ways.map((way) => exchangesOf(t, server, way)))
    assert.ok(bare)
    for (const { tools, exchanges, logged } of wrapped) {
      assert.deepEqual(tools, bare.tools)
      assert.equal(exchanges.length, bare.exchanges.length)
      for (const [index, exchange] of exchanges.entries()) {
        assertSame(bare.exchanges[index] as Exchange, exchange)
      }
      assert.equal(logged, exchanges.length, 'one record for each call')
    }
    t.diagnostic(
      `${bare.tools.length} tools, ${bare.exchanges.length} calls, ${summaryOf(wrapped[0]?.exchanges ?? [])}`,
    )
  })
}

async function exchangesOf(t: TestContext, server: ExampleServer, way: (typeof ways)[number]) {
  const root = mkdtempSync(join(tmpdir(), 'unsilent-example-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const directory = join(root, 'files')
  const logs = join(root, 'logs')
  mkdirSync(logs)
  server.prepare(directory)
  const session = await openSession(server, {
    directory,
    logs,
    ...(way === 'not' ? {} : { wrap: way }),
  })
  try {
    const exchanges = await askAll(session, server.calls(directory))
    assert.deepEqual(namesOf(session.tools), namesAsked(exchanges), 'every tool is called')
    return {
      tools: session.tools,
      exchanges: exchanges.map((exchange) => plain(exchange, root)),
      logged: readCalls(logs).length,
    }
  } finally {
    await session.close()
  }
}

/** The sound calls first; then each tool once for each way of sending it something wrong. */
async function askAll(session: Session, calls: ExampleCall[]): Promise<Exchange[]> {
  const exchanges: Exchange[] = []
  const ask = async (kind: Kind, call: ExampleCall, args: unknown) => {
    exchanges.push({ kind, call, args, answer: await session.call(call, args) })
  }
  for (const call of calls) await ask('sound', call, call.args)
  for (const tool of session.tools) {
    const call = calls.find(({ tool: name }) => name === tool.name)
    if (!call || call.task) continue
    await ask('unknown key', call, { ...call.args, surplus_key: 1 })
    const spoilt = spoiltArguments(tool, call)
    if (spoilt) await ask('wrong type', call, spoilt)
    await ask('no object', call, ['surplus'])
  }
  return exchanges
}

/** The first parameter as an object, which none of these tools takes. */
function spoiltArguments({ inputSchema }: ListedTool, call: ExampleCall): object | undefined {
  const [first] = Object.keys(inputSchema.properties ?? {})
  return first === undefined ? undefined : { ...call.args, [first]: { wrong: true } }
}

function namesOf(tools: ListedTool[]): string[] {
  return tools.map(({ name }) => name).sort()
}

function namesAsked(exchanges: Exchange[]): string[] {
  return [...new Set(exchanges.map(({ call }) => call.tool))].sort()
}

/** Without what differs from run to run: directories, times, random ids, the test's own variables. */
function plain(exchange: Exchange, root: string): Exchange {
  const text = JSON.stringify(exchange.answer)
    .replaceAll(root, '<root>')
    .replace(/\\"EXAMPLE_WRAP\\": \\"\w+\\"/g, '')
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uuid>')
    .replace(/\b[0-9a-f]{32}\b/g, '<id>')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
    .replace(/\b\d{1,2}:\d\d:\d\d [AP]M\b/g, '<time>')
    .replace(/(\w{3} ){2}\d\d \d{4} \d\d:\d\d:\d\d GMT[^\\"]*/g, '<time>')
  const answer: Answer = JSON.parse(text)
  // The SDK's client loses the last one where it arrives together with the answer.
  return { ...exchange, answer: { ...answer, progress: answer.progress.slice(0, 3) } }
}

function assertSame(bare: Exchange, wrapped: Exchange): void {
  const { kind, call } = wrapped
  const where = `${call.tool} (${kind}): ${JSON.stringify(wrapped.answer)}`
  const said = textOf(wrapped.answer)
  if (kind === 'sound' && call.throws) {
    assert.match(textOf(bare.answer), call.throws, where)
    assertKept(bare, wrapped, where)
    return
  }
  if (kind === 'sound' && call.refused) {
    assert.match(said, call.refused, where)
    assert.equal(bare.answer.result?.isError, true, where)
    assert.equal(wrapped.answer.result?.isError, true, where)
    return
  }
  if (kind === 'wrong type') {
    assert.match(textOf(bare.answer), /^MCP error -32602: Input validation error: /, where)
    assert.match(said, new RegExp(`^Invalid arguments for "${call.tool}": `), where)
    assert.equal(wrapped.answer.result?.isError, true, where)
    return
  }
  if (kind === 'no object') {
    assert.equal(bare.answer.error?.code, -32603, where)
    assert.match(said, /must be an object, received array/, where)
    assert.equal(wrapped.answer.result?.isError, true, where)
    return
  }
  // One tool has moved its file away by then, and throws.
  if (kind === 'unknown key' && bare.answer.result?.isError) assertKept(bare, wrapped, where)
  else if (kind === 'unknown key') assert.deepEqual(withoutNote(wrapped.answer), bare.answer, where)
  else assert.deepEqual(wrapped.answer, bare.answer, where)
}

/** By default an error that was thrown is kept in the log; a ToolError would speak to the model. */
function assertKept(bare: Exchange, wrapped: Exchange, where: string): void {
  const kept = `unexpected error, kept in the server's log under call [\\w-]+\\.$`
  assert.match(
    textOf(wrapped.answer),
    new RegExp(`^Tool "${wrapped.call.tool}" failed: ${kept}`),
    where,
  )
  assert.equal(bare.answer.result?.isError, true, where)
  assert.equal(wrapped.answer.result?.isError, true, where)
}

/** The answer without the one block that names the dropped key. */
function withoutNote(answer: Answer): Answer {
  const content = answer.result?.content
  const last = Array.isArray(content) ? content.at(-1) : undefined
  const isNote = /`surplus_key`/.test(String(last?.text))
  assert.ok(isNote, `the dropped key is told: ${JSON.stringify(answer)}`)
  return { ...answer, result: { ...answer.result, content: (content as unknown[]).slice(0, -1) } }
}

function textOf({ result }: Answer): string {
  const content = Array.isArray(result?.content) ? result.content : []
  return content.map((block: { text?: string }) => block.text ?? '').join('\n')
}

function summaryOf(exchanges: Exchange[]): string {
  const kinds: Kind[] = ['sound', 'unknown key', 'wrong type', 'no object']
  return kinds
    .map((kind) => `${exchanges.filter((each) => each.kind === kind).length} ${kind}`)
    .join(', ')
}
