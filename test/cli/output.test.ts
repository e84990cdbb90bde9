import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mayStyle, progressLine } from '../../web/cli/output.ts'

function terminal(columns: number): { stream: NodeJS.WriteStream; written: string[] } {
  const written: string[] = []
  const stream = { isTTY: true, columns, write: (text: string) => written.push(text) > 0 }
  return { stream: stream as unknown as NodeJS.WriteStream, written }
}

describe('the progress line', () => {
  test('rewrites itself on a terminal and leaves nothing behind', () => {
    const { stream, written } = terminal(20)
    const line = progressLine(stream)
    line.show('Reading: 12,345 calls, 40 %')
    line.end()
    line.end()
    assert.deepEqual(written, ['\r\u001b[2KReading: 12,345 cal', '\r\u001b[2K'])
  })

  test('does not flood the terminal', () => {
    const { stream, written } = terminal(0)
    const line = progressLine(stream)
    for (let percent = 0; percent < 100; percent += 1) line.show(`${percent} %`)
    assert.equal(written.length, 1)
  })

  test('says nothing where nobody watches', () => {
    const { stream, written } = terminal(80)
    stream.isTTY = false
    const line = progressLine(stream)
    line.show('Reading')
    line.end()
    assert.deepEqual(written, [])
  })
})

test('bold text is for terminals that did not refuse it', () => {
  assert.equal(mayStyle({ isTTY: true }, {}), true)
  assert.equal(mayStyle({ isTTY: false }, {}), false)
  assert.equal(mayStyle({ isTTY: true }, { NO_COLOR: '1' }), false)
  assert.equal(mayStyle({ isTTY: true }, { TERM: 'dumb' }), false)
})
