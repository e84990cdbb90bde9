import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { progressText } from '../../web/cli/import-progress.ts'
import { mayStyle, progressLine } from '../../web/cli/output.ts'

function terminal(columns: number): { stream: NodeJS.WriteStream; written: string[] } {
  const written: string[] = []
  const stream = { isTTY: true, columns, write: (text: string) => written.push(text) > 0 }
  return { stream: stream as unknown as NodeJS.WriteStream, written }
}

describe('the progress line', () => {
  test('rewrites itself on a terminal and leaves nothing behind', () => {
    const { stream, written } = terminal(20)
    const line = progressLine({ stream })
    line.show('Reading: 12,345 calls, 40 %')
    line.end()
    line.end()
    assert.deepEqual(written, ['\r\u001b[2KReading: 12,345 cal', '\r\u001b[2K'])
  })

  test('does not flood the terminal', () => {
    const { stream, written } = terminal(0)
    const line = progressLine({ stream })
    for (let percent = 0; percent < 100; percent += 1) line.show(`${percent} %`)
    assert.equal(written.length, 1)
  })

  test('says nothing where nobody watches', () => {
    const { stream, written } = terminal(80)
    stream.isTTY = false
    const line = progressLine({ stream })
    line.show('Reading')
    line.end()
    assert.deepEqual(written, [])
  })
})

describe('how far an import is', () => {
  const half = {
    bytesDone: 1_500_000,
    bytesTotal: 3_000_000,
    rows: 12_345,
    quarantined: 0,
    linesPerSecond: 40_123.4,
    bytesPerSecond: 20_000,
    caughtUp: false,
    problems: [],
  }

  test('is a bar, bytes, lines a second and the time left', () => {
    assert.equal(
      progressText(half, { bar: true }),
      '[##########..........] 50 %, 1 min 15 s left, 40,123 lines/s, 1.5 MB of 3.0 MB, 12,345 calls',
    )
    assert.match(progressText(half), /^Reading logs: 50 %/)
    assert.match(progressText({ ...half, bytesPerSecond: 0 }), /50 %, 40,123 lines\/s/)
    assert.match(progressText({ ...half, bytesPerSecond: 100 }), /50 %, 4 h 10 min left/)
    assert.match(progressText({ ...half, bytesTotal: 0, bytesDone: 0 }), /^Reading logs: 0 %/)
    assert.equal(
      progressText({ ...half, caughtUp: true }),
      '12,345 calls read; following the logs.',
    )
  })

  test('is told in plain lines now and then where no terminal is', () => {
    const { stream, written } = terminal(80)
    stream.isTTY = false
    let nowMs = 0
    const line = progressLine({ stream, plainEveryMs: 10_000, nowMs: () => nowMs })
    for (; nowMs < 25_000; nowMs += 100) line.show(`${nowMs} ms`)
    line.end()
    assert.deepEqual(written, ['10000 ms\n', '20000 ms\n'])
  })
})

test('bold text is for terminals that did not refuse it', () => {
  assert.equal(mayStyle({ isTTY: true }, {}), true)
  assert.equal(mayStyle({ isTTY: false }, {}), false)
  assert.equal(mayStyle({ isTTY: true }, { NO_COLOR: '1' }), false)
  assert.equal(mayStyle({ isTTY: true }, { TERM: 'dumb' }), false)
})
