import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expandDetail } from '../../ingest/store/call-detail.ts'
import {
  append,
  assertWorldSound,
  callRecord,
  createStampedLine,
  createWorld,
  ingestOnce,
  NOON,
  withReader,
} from './support.ts'

type Row = {
  detail: string
  argsKey: number | null
  version: string | null
  transport: string | null
}

const HASH = '847f4844a6e10d5f'

test('what is left out of the stored detail is put back when it is read', async () => {
  const world = createWorld()
  const usual = {
    handler_ms: 9.5,
    attempts: [{ ms: 9.5 }],
    args_hash: HASH,
    protocol: '2025-11-25',
    transport: 'stdio' as const,
    result: { bytes: 7, blocks: 1 },
  }
  const retried = {
    handler_ms: 20,
    attempts: [
      { ms: 9.5, class: 'timeout' as const },
      { ms: 10.5, wait_ms: 200 },
    ],
    outcome: 'retried' as const,
    result: { bytes: 7, blocks: 2 },
  }
  append(
    world.log('a.jsonl'),
    createStampedLine('e'.repeat(32), 1, NOON, callRecord(usual)),
    createStampedLine('e'.repeat(32), 2, NOON, callRecord(retried)),
    createStampedLine('e'.repeat(32), 3, NOON, callRecord({ attempts: [] })),
  )
  await ingestOnce(world)
  withReader(world, (database) => {
    const rows = database
      .prepare(`
        SELECT detail, args_key AS argsKey, protocol.version, protocol.transport
        FROM call JOIN call_text ON call_id = call.id
        LEFT JOIN protocol ON protocol.id = protocol_id ORDER BY n`)
      .all() as Row[]
    assert.equal(rows[0]?.detail, '{"request":1,"handler_ms":9.5,"result":{"bytes":7}}')
    assert.deepEqual(
      rows.map(({ detail, argsKey, version, transport }) => {
        const protocol = version && transport ? ([version, transport] as const) : undefined
        return expandDetail(JSON.parse(detail), { argsKey, protocol })
      }),
      [
        { request: 1, ...usual, args_hash: HASH.slice(0, 13) },
        { request: 1, handler_ms: 20, attempts: retried.attempts, result: retried.result },
        { request: 1, attempts: [] },
      ],
    )
  })
  assertWorldSound(world)
})
