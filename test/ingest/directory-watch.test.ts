import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDirectoryWatch } from '../../ingest/worker/directory-watch.ts'

function fault(code: string): Error {
  return Object.assign(new Error(`${code}: made to fail`), { code, syscall: 'watch' })
}

for (const code of ['ENOSPC', 'EMFILE']) {
  test(`E18: where watches cannot be had (${code}) polling alone goes on, and none is asked for again`, () => {
    const directory = mkdtempSync(join(tmpdir(), 'unsilent-watch-'))
    let asked = 0
    const watch = createDirectoryWatch(
      () => undefined,
      () => {
        asked += 1
        throw fault(code)
      },
    )
    watch.cover([directory])
    watch.cover([directory])
    assert.equal(watch.isReliable(), false)
    assert.equal(asked, 1)
    watch.close()
  })

  test(`E18: a watch that fails later (${code}) is closed and not missed`, () => {
    const directory = mkdtempSync(join(tmpdir(), 'unsilent-watch-'))
    const emitter = new EventEmitter()
    let closed = 0
    let woken = 0
    const watch = createDirectoryWatch(
      () => {
        woken += 1
      },
      (_, onChange) => {
        emitter.on('change', onChange)
        const watcher = { close: () => (closed += 1), on: emitter.on.bind(emitter) }
        return watcher as unknown as ReturnType<typeof import('node:fs').watch>
      },
    )
    watch.cover([directory])
    emitter.emit('change')
    assert.equal(woken, 1)
    emitter.emit('error', fault(code))
    assert.equal(closed, 1)
    watch.cover([directory])
    assert.equal(watch.isReliable(), false)
    watch.close()
  })
}
