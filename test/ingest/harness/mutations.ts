/** One thing that the reader relies on, taken away in a copy of the sources. */
export type Mutation = {
  name: string
  /** Under the repository's root. `from` stands there exactly once. */
  file: string
  from: string
  to: string
  /** What has to go red: the random stories, or one named test of a file. */
  caughtBy: { runs: number } | { file: string; test: string }
}

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'the anchor: bytes before the offset are not compared',
    file: 'ingest/stream-identity.ts',
    from: 'return bytesOf(files, file, offset - anchor.length, anchor)',
    to: 'return readBytes(files, file, offset - anchor.length, anchor.length)',
    caughtBy: { runs: 400 },
  },
  {
    name: 'the head: first bytes are not compared',
    file: 'ingest/stream-identity.ts',
    from: '    hasBytes(files, file, 0, position.head) &&\n',
    to: '',
    caughtBy: {
      file: 'test/ingest/tail.test.ts',
      test: 'logs that end alike are told apart by how they begin',
    },
  },
  {
    name: 'the ledger: hashes of lines are not compared',
    file: 'ingest/stream-identity.ts',
    from: 'stream.id === undefined\n      ? NOTHING_HASHED',
    to: 'stream.id !== -1\n      ? NOTHING_HASHED',
    caughtBy: { runs: 400 },
  },
  {
    name: 'the second look: a truncation during a read is not noticed',
    file: 'ingest/file-reader.ts',
    from: 'if (shrank || !hasAnchor(this.#files, file, position)) return',
    to: 'if (shrank && left < 0) return',
    caughtBy: {
      file: 'test/ingest/tail.test.ts',
      test: 'R9: a log that is truncated and written anew during a read is read as it is then',
    },
  },
  {
    name: 'rule 3: names that rotation gave are looked at before the log itself',
    file: 'ingest/locations.ts',
    from: 'Number(b.name.primary) - Number(a.name.primary)',
    to: 'Number(a.name.primary) - Number(b.name.primary)',
    caughtBy: { runs: 400 },
  },
  {
    name: 'rule 4: a file that is no longer what it was is a new one, without a second thought',
    file: 'ingest/recognise.ts',
    from: '  const mates = index.familyStreams(location.name.family)\n',
    to: '  const mates = atPlace ? [] : index.familyStreams(location.name.family)\n',
    caughtBy: { runs: 400 },
  },
  {
    name: 'rule 5: a copy that covers a stream is not its continuation',
    file: 'ingest/recognise.ts',
    from: "kind: comparison === 'covers' ? 'stream' : 'contained'",
    to: "kind: 'contained'",
    caughtBy: { runs: 400 },
  },
  {
    name: 'rule 5: a shorter copy is a log of its own',
    file: 'ingest/recognise.ts',
    from: "comparison === 'differs' || inCommon <= shared",
    to: "comparison !== 'covers' || inCommon <= shared",
    caughtBy: { runs: 400 },
  },
  {
    name: 'rule 5: what may be a copy in the making is not waited for',
    file: 'ingest/file-reader.ts',
    from: 'if (!standsStill(location, this.nowMs)) {',
    to: 'if (this.nowMs < 0) {',
    caughtBy: {
      file: 'test/ingest/tail.test.ts',
      test: 'a copy in the making is waited for, and becomes no stream of its own',
    },
  },
  {
    name: 'rule 5: lines without a stamp are stored from a copy that was followed for its stamps',
    file: 'ingest/file-reader.ts',
    from: 'if (!hasUnstamped || stream.hashed || stream.position.offset === 0) return false',
    to: 'if (stream.position.offset >= 0) return false',
    caughtBy: {
      file: 'test/ingest/tail.test.ts',
      test: 'a backup of stamped lines that is replaced by one with unstamped lines is still a copy',
    },
  },
  {
    name: 'rule 5: half a line is enough to know a copy by',
    file: 'ingest/stream-identity.ts',
    from: 'return stream.closed && stream.id !== undefined && ',
    to: 'return stream.id === -1 && ',
    caughtBy: {
      file: 'test/ingest/tail.test.ts',
      test: 'a backup of half a line that is replaced by a backup of more is still a copy',
    },
  },
  {
    name: 'rule 6: a fresh log is taken for a copy because it begins alike',
    file: 'ingest/recognise.ts',
    from: 'if (isPrimary) return recognisePrimary(location, file, mates, options)',
    to: 'if (isPrimary && mates.length < 0) return begun',
    caughtBy: {
      file: 'test/ingest/tail.test.ts',
      test: 'a fresh log that so far says what the old one said is not taken for a copy',
    },
  },
  {
    name: 'rule 6: a log that was saved anew is another one',
    file: 'ingest/recognise.ts',
    from: "if (compareWithStream(files, file, location.facts.sizeBytes, mate, index) === 'covers') {",
    to: 'if (stream.id < 0) {',
    caughtBy: { runs: 400 },
  },
  {
    name: 'rule 7: rotated names have no family',
    file: 'ingest/rotation-name.ts',
    from: 'family: join(dirname(path), stem)',
    to: 'family: path',
    caughtBy: { runs: 400 },
  },
  {
    name: 'the stamp: (w, n) is not taken before its line is stored',
    file: 'ingest/store/claims.ts',
    from: 'if (writer.ranges?.add(stamp.n)) return writer',
    to: 'if (writer.ranges?.add(stamp.n) !== undefined) return writer',
    caughtBy: { runs: 400 },
  },
  {
    name: 'the stamp: lines are known by their place alone',
    file: 'ingest/store/write-batch.ts',
    from: 'const { stamp } = parsed',
    to: 'const stamp = parsed.stamp && undefined',
    caughtBy: { runs: 400 },
  },
  {
    name: 'IMMEDIATE: a batch asks for the write lock when it first writes',
    file: 'ingest/store/write-batch.ts',
    from: "database.prepare('BEGIN IMMEDIATE')",
    to: "database.prepare('BEGIN')",
    caughtBy: {
      file: 'test/ingest/store-faults.test.ts',
      test: 'a batch has the write lock from its first moment, so that it never has to be given up',
    },
  },
  {
    name: 'memory: what was not committed is not forgotten',
    file: 'ingest/store/write-batch.ts',
    from: '    this.forget()\n    this.#reset()',
    to: '    this.#reset()',
    caughtBy: {
      file: 'test/ingest/failing-reads.test.ts',
      test: 'a poll that fails in the middle of a batch forgets what was not committed',
    },
  },
]
