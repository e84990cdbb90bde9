import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Random } from '../../../sample-logs/random.ts'
import { callRecord, createStampedLine, foreignCall, NOON } from '../support.ts'

/** What the lines of a run look like. */
export type LineKind = 'stamped' | 'unstamped' | 'mixed'

/** What becomes of one line, as far as the run decides it. */
type Fate = {
  line: string
  /** Its bytes were gone from all files before it was stored: nobody could have read it. */
  mayBeLost: boolean
  /** It was never whole in one file. */
  torn: boolean
  /** Its row was there and was removed for its age: it must not come back. */
  removed: boolean
}

const BANNER = `${JSON.stringify({ level: 30, time: NOON, msg: `welcome ${'-'.repeat(2000)}` })}\n`

/**
 * A program that writes app.log, and the truth about each line it has written. Its lines carry
 * their id twice, in the call's id and in its arguments, so that a garbled row is noticed.
 */
export class LogModel {
  readonly #fates = new Map<string, Fate>()
  readonly #directory: string
  readonly #kind: LineKind
  readonly #banner: boolean
  readonly #random: Random
  readonly #writer: string
  #n = 0
  /** The rest of a line whose beginning is in the file at path. */
  #unfinished: { id: string; path: string; rest: string } | undefined

  constructor(directory: string, random: Random, kind: LineKind, banner: boolean) {
    this.#directory = directory
    this.#random = random
    this.#kind = kind
    this.#banner = banner
    this.#writer = random.hex(32)
  }

  get log(): string {
    return join(this.#directory, 'app.log')
  }

  path(name: string): string {
    return join(this.#directory, name)
  }

  names(): string[] {
    return readdirSync(this.#directory).sort()
  }

  /** app.log.1, app.log.2.gz … that exist, the newest first. */
  generations(): { path: string; number: number; ending: string }[] {
    return this.names()
      .flatMap((name) => {
        const match = /^app\.log\.(\d+)(\.gz)?$/.exec(name)
        return match
          ? [{ path: this.path(name), number: Number(match[1]), ending: match[2] ?? '' }]
          : []
      })
      .sort((a, b) => a.number - b.number)
  }

  /** Those that are not compressed. */
  rotated(): string[] {
    return this.generations().flatMap(({ path, ending }) => (ending === '' ? [path] : []))
  }

  /** Writes whole lines; now and then the last one only in part. */
  append(count: number, path = this.log): void {
    this.#finish()
    if (this.#banner && !existsSync(path)) appendFileSync(path, BANNER)
    for (let index = 0; index < count; index += 1) {
      const { id, line } = this.#nextLine()
      if (index === count - 1 && this.#random.chance(0.2)) {
        // Without its break alone it would be whole.
        const cut = this.#random.integer(1, line.length - 2)
        appendFileSync(path, line.slice(0, cut))
        this.#unfinished = { id, path, rest: line.slice(cut) }
      } else appendFileSync(path, line)
    }
  }

  /** The writer dies in the middle of a line; its successor goes on without a line break. */
  tear(): void {
    this.#finish()
    const { id, line } = this.#nextLine()
    appendFileSync(this.log, line.slice(0, this.#random.integer(20, line.length - 2)))
    this.#fateOf(id).torn = true
  }

  /** Retention took the rows away. */
  removed(ids: readonly string[]): void {
    for (const id of ids) this.#fateOf(id).removed = true
  }

  /** The path under which an unfinished line will be finished has changed. */
  renamed(from: string, to: string): void {
    if (this.#unfinished?.path === from) this.#unfinished.path = to
  }

  /**
   * Does something that removes bytes. Lines that are in no file afterwards and were not stored
   * before cannot be asked for. `stored` may say more than was committed, never less.
   */
  destroy(path: string, stored: () => ReadonlySet<string>, act: () => void): void {
    const before = this.#idsIn(path)
    if (this.#unfinished?.path === path) {
      this.#fateOf(this.#unfinished.id).torn = true
      this.#unfinished = undefined
    }
    const known = stored()
    act()
    const left = new Set(this.names().flatMap((name) => this.#idsIn(this.path(name))))
    for (const id of before) {
      if (!left.has(id) && !known.has(id)) this.#fateOf(id).mayBeLost = true
    }
  }

  /** Compares what is stored with what was written; sentences, none if all is well. */
  judge(rows: readonly { uid: string; args: string }[]): string[] {
    this.#finish()
    const faults: string[] = []
    const counts = new Map<string, number>()
    for (const { uid, args } of rows) {
      counts.set(uid, (counts.get(uid) ?? 0) + 1)
      const fate = this.#fates.get(uid)
      if (!fate?.line.includes(`"args":${args}}`)) faults.push(`garbled: ${uid} ${args}`)
    }
    for (const [id, { mayBeLost, torn, removed }] of this.#fates) {
      const count = counts.get(id) ?? 0
      if (count > 1) faults.push(`doubled: ${id} ${count} times`)
      if (count > 0 && removed) faults.push(`back again: ${id} had been removed`)
      if (count === 0 && !mayBeLost && !torn && !removed) faults.push(`lost: ${id}`)
      if (count > 0 && torn) faults.push(`garbled: ${id} was never whole`)
    }
    return faults
  }

  tally(): { lines: number; mayBeLost: number } {
    const fates = [...this.#fates.values()]
    return { lines: fates.length, mayBeLost: fates.filter((fate) => fate.mayBeLost).length }
  }

  /** Called before the files are looked at for the last time. */
  finish(): void {
    this.#finish()
  }

  #finish(): void {
    if (!this.#unfinished) return
    const { path, rest } = this.#unfinished
    this.#unfinished = undefined
    appendFileSync(path, rest)
  }

  #nextLine(): { id: string; line: string } {
    this.#n += 1
    const id = `line-${this.#n}`
    const args = { id, pad: 'x'.repeat(this.#random.integer(0, 200)) }
    const stamped = this.#kind === 'stamped' || (this.#kind === 'mixed' && this.#random.chance(0.7))
    const line = stamped
      ? createStampedLine(this.#writer, this.#n, NOON, callRecord({ call: id, args }))
      : foreignCall(id, { args })
    this.#fates.set(id, { line, mayBeLost: false, torn: false, removed: false })
    return { id, line }
  }

  #idsIn(path: string): string[] {
    if (!existsSync(path)) return []
    const bytes = readFileSync(path)
    const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
    return [...this.#fates].flatMap(([id, { line }]) => (text.includes(line) ? [id] : []))
  }

  #fateOf(id: string): Fate {
    return this.#fates.get(id) as Fate
  }
}
