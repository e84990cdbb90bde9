/**
 * The tables. This file owns their shape; only ingest/ writes them, web/ reads them read-only, and
 * people may open them with any SQLite tool: the view `calls` has plain names and JSON arguments.
 *
 * Rules that hold everywhere:
 *
 * - A row of `call` is one `tools/call`. (writer_id, n) names it for ever: the log's own (w, n), or
 *   for lines without a stamp a writer that stands for the stream, with n the line's byte offset.
 *   UNIQUE (writer_id, n) is what makes doubling impossible.
 * - Names are kept once, in dictionaries; a tool is a name on a server's name, so that two servers
 *   may each have a `search`. `server` has a row a version. Row 0 of `client` is "not known".
 * - Times are epoch milliseconds UTC; a quarter is `floor(started_ms / 900000)`, since every
 *   zone's offset is a multiple of 15 minutes. Durations are whole microseconds.
 * - Outcomes and classes are numbered by their place in server/call-log/record.ts, from 1;
 *   class 0 means "no error".
 * - A line that is not shown as a row is counted: `quarantine` if it was refused, blank_bytes if
 *   it was empty or another program's. For each stream
 *     row_bytes + quarantined_bytes + blank_bytes = committed_offset − base_offset.
 * - `quarter_count` is the sum of `call` by its key, kept in the same transaction as the rows. It
 *   outlives them: what retention took away stays counted there and in its `removed_` columns.
 */

export const SCHEMA_VERSION = 2

/** `PRAGMA application_id`: "UNSI". Tells our file from another program's. */
export const APPLICATION_ID = 0x554e5349

export const QUARTER_MS = 900_000

/** Bits of `call.flags`. */
export const CALL_FLAGS = {
  /** The result said nothing. */
  empty: 1,
  /** A success that looks like a failure; the rule's id is in detail.result.suspect. */
  suspect: 2,
  /** Arguments the schema does not have were dropped. */
  dropped: 4,
  /** A transient failure was not retried. */
  retrySuppressed: 8,
  /** The client was gone before the answer. */
  undelivered: 16,
  /** The line's time was missing or implausible: started_ms is the time of ingest. */
  clock: 32,
  /** The line was written by a newer format version. */
  newer: 64,
  /** The last line of a file that ended without a line break. */
  unterminated: 128,
  /** The line's duration was missing, negative or not a number: duration_us is 0. */
  duration: 256,
} as const

/** As of SCHEMA_VERSION. Older databases are brought here by migrations.ts; a test compares both. */
export const SCHEMA_SQL = `
CREATE TABLE outcome (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE error_class (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE server (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  UNIQUE (name, version)
) STRICT;

CREATE TABLE tool (
  id INTEGER PRIMARY KEY,
  server_name TEXT NOT NULL,
  name TEXT NOT NULL,
  UNIQUE (server_name, name)
) STRICT;

CREATE TABLE client (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  UNIQUE (name, version)
) STRICT;

CREATE TABLE session (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE
) STRICT;

-- How calls came in: version of the protocol, kind of transport.
CREATE TABLE protocol (
  id INTEGER PRIMARY KEY,
  version TEXT NOT NULL,
  transport TEXT NOT NULL,
  UNIQUE (version, transport)
) STRICT;

-- One process of a server and its log (or, unstamped, one stream of foreign lines).
CREATE TABLE writer (
  id INTEGER PRIMARY KEY,
  w TEXT NOT NULL UNIQUE,
  stamped INTEGER NOT NULL CHECK (stamped IN (0, 1)),
  server_id INTEGER REFERENCES server (id),
  pid INTEGER,
  hostname TEXT,
  boot_id TEXT,
  node TEXT,
  beat_ms INTEGER,
  started_ms INTEGER,
  last_seen_ms INTEGER,
  exited_ms INTEGER,
  exit_code INTEGER,
  -- Set where another process used the same w (a copied container, a fork): the writer whose
  -- numbers were taken. The records of both are kept; this one's w has "~2", "~3" … appended.
  conflict_of INTEGER REFERENCES writer (id)
) STRICT;

-- Which n of a writer have been seen, as merged ranges. A hole is a lost record. Below 0 stand calls
-- that died with their process: they have no record, and their n is made of their id.
CREATE TABLE writer_range (
  writer_id INTEGER NOT NULL REFERENCES writer (id),
  first_n INTEGER NOT NULL,
  last_n INTEGER NOT NULL CHECK (last_n >= first_n),
  PRIMARY KEY (writer_id, first_n)
) STRICT, WITHOUT ROWID;

-- One append-only sequence of bytes, whatever the file that holds it is called now.
CREATE TABLE stream (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL,
  state TEXT NOT NULL,
  base_offset INTEGER NOT NULL DEFAULT 0,
  committed_offset INTEGER NOT NULL DEFAULT 0,
  line_number INTEGER NOT NULL DEFAULT 0,
  -- What its file is known by, as hashes, so that nothing of the log's text is in them. head: the
  -- number of first bytes (at most 1024, little-endian in two bytes) and the first half of their
  -- SHA-256; anchor: the same half for the (at most 1024) bytes before committed_offset.
  head BLOB NOT NULL,
  anchor BLOB NOT NULL,
  -- Lines that became a call or a process event, and those that were there already.
  row_bytes INTEGER NOT NULL DEFAULT 0,
  quarantined_bytes INTEGER NOT NULL DEFAULT 0,
  -- Empty lines, and JSON lines of other programs that are not calls (foreign_lines).
  blank_bytes INTEGER NOT NULL DEFAULT 0,
  rows INTEGER NOT NULL DEFAULT 0,
  event_rows INTEGER NOT NULL DEFAULT 0,
  duplicate_rows INTEGER NOT NULL DEFAULT 0,
  quarantined_lines INTEGER NOT NULL DEFAULT 0,
  foreign_lines INTEGER NOT NULL DEFAULT 0,
  first_seen_ms INTEGER NOT NULL,
  last_growth_ms INTEGER NOT NULL,
  -- Directory and base name without a rotation's suffix: copies are looked for inside a family.
  family TEXT NOT NULL DEFAULT '',
  -- 1 while committed_offset stands inside a line that was refused for its length.
  skipping INTEGER NOT NULL DEFAULT 0 CHECK (skipping IN (0, 1)),
  -- Of quarantined_bytes and quarantined_lines, those whose entries were removed for their age.
  removed_quarantined_bytes INTEGER NOT NULL DEFAULT 0,
  removed_quarantined_lines INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX stream_by_family ON stream (family);

-- What unstamped lines are recognised by when their file turns up as a copy: for each line in
-- [first_offset, end_offset) 32 bits of hash over all bytes of the run so far, little-endian.
-- Stamped lines need none of it: their (w, n) cannot be stored twice.
CREATE TABLE chunk (
  stream_id INTEGER NOT NULL REFERENCES stream (id),
  first_offset INTEGER NOT NULL,
  end_offset INTEGER NOT NULL,
  line_hashes BLOB NOT NULL,
  PRIMARY KEY (stream_id, first_offset)
) STRICT, WITHOUT ROWID;

-- Files that hold a stream now. A path may have had several; a stream may have several names.
CREATE TABLE location (
  path TEXT NOT NULL,
  device TEXT NOT NULL,
  inode TEXT NOT NULL,
  birth_ns TEXT NOT NULL,
  stream_id INTEGER NOT NULL REFERENCES stream (id),
  size_bytes INTEGER NOT NULL,
  seen_ms INTEGER NOT NULL,
  PRIMARY KEY (device, inode, birth_ns)
) STRICT, WITHOUT ROWID;

CREATE TABLE call (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  started_ms INTEGER NOT NULL,
  duration_us INTEGER NOT NULL CHECK (duration_us >= 0),
  -- 16 bins an octave of duration_us: percentiles with an error of at most 2.2 %.
  duration_bin INTEGER NOT NULL,
  server_id INTEGER NOT NULL REFERENCES server (id),
  tool_id INTEGER NOT NULL REFERENCES tool (id),
  client_id INTEGER NOT NULL REFERENCES client (id),
  session_id INTEGER REFERENCES session (id),
  outcome_id INTEGER NOT NULL REFERENCES outcome (id),
  class_id INTEGER NOT NULL REFERENCES error_class (id),
  flags INTEGER NOT NULL DEFAULT 0,
  -- The first 52 bits of args_hash, so that equal arguments are found by number; NULL if unknown.
  args_key INTEGER,
  stream_id INTEGER NOT NULL REFERENCES stream (id),
  line_offset INTEGER NOT NULL,
  writer_id INTEGER NOT NULL REFERENCES writer (id),
  n INTEGER NOT NULL,
  -- NULL where the line does not say, or call_text.detail has it.
  protocol_id INTEGER REFERENCES protocol (id),
  UNIQUE (writer_id, n)
) STRICT;

CREATE INDEX call_by_time ON call (started_ms, id);
CREATE INDEX call_failed ON call (tool_id, class_id, started_ms) WHERE class_id <> 0;
CREATE INDEX call_by_session ON call (session_id, started_ms) WHERE session_id IS NOT NULL;

-- The text of a call, apart from the numbers above so that counting does not read it.
CREATE TABLE call_text (
  call_id INTEGER PRIMARY KEY REFERENCES call (id) ON DELETE CASCADE,
  uid TEXT NOT NULL,
  -- The exact text of the record's args; NULL where the line had none.
  args TEXT,
  -- JSON: the record's keys that are not columns (request, trace, handler_ms, dropped, attempts, error, issues, result, delivered, retry_suppressed), less what
  -- call-detail.ts can put back.
  detail TEXT NOT NULL
) STRICT;

-- One way in which arguments of a tool go wrong: no values in it.
CREATE TABLE signature (
  id INTEGER PRIMARY KEY,
  -- "s1:" and a hash of tool, code, path, expected, received, subtype and unknown key.
  fingerprint TEXT NOT NULL UNIQUE,
  tool_id INTEGER NOT NULL REFERENCES tool (id),
  code TEXT NOT NULL,
  -- Array indices as [*].
  path TEXT NOT NULL,
  subtype TEXT,
  expected TEXT,
  received TEXT,
  suggest TEXT
) STRICT;

CREATE TABLE call_signature (
  signature_id INTEGER NOT NULL REFERENCES signature (id),
  call_id INTEGER NOT NULL REFERENCES call (id) ON DELETE CASCADE,
  -- 1 for the issue that best tells what to fix; a call has one.
  is_primary INTEGER NOT NULL CHECK (is_primary IN (0, 1)),
  PRIMARY KEY (signature_id, call_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX call_signature_by_call ON call_signature (call_id);

-- Counts a quarter of an hour: what every chart, rate and heatmap is made of.
CREATE TABLE quarter_count (
  tool_id INTEGER NOT NULL,
  class_id INTEGER NOT NULL,
  outcome_id INTEGER NOT NULL,
  server_id INTEGER NOT NULL,
  client_id INTEGER NOT NULL,
  quarter INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  duration_us INTEGER NOT NULL,
  -- Of these, those whose rows were removed for their age or the database's size.
  removed_calls INTEGER NOT NULL DEFAULT 0,
  removed_duration_us INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tool_id, class_id, outcome_id, server_id, client_id, quarter)
) STRICT, WITHOUT ROWID;

-- start, exit, beat, fatal, late, drop, open and close records, as they were written, and kinds
-- this version does not know. Beats in a row within a quarter hour share the newest one's row, with
-- their number in detail.beats and the largest delay in detail.loop_delay_max_ms; a beat that was
-- overdue starts a new row, so that every silence stays visible.
CREATE TABLE process_event (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  writer_id INTEGER NOT NULL REFERENCES writer (id),
  n INTEGER NOT NULL,
  kind TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  detail TEXT NOT NULL,
  UNIQUE (writer_id, n)
) STRICT;

CREATE INDEX process_event_by_kind ON process_event (kind, at_ms);

-- Lines that were refused: where they are, why, and a bounded sample.
CREATE TABLE quarantine (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  stream_id INTEGER NOT NULL REFERENCES stream (id),
  line_offset INTEGER NOT NULL,
  line_number INTEGER NOT NULL,
  length_bytes INTEGER NOT NULL,
  -- How many lines of the same reason in a row this entry stands for.
  lines INTEGER NOT NULL DEFAULT 1,
  reason TEXT NOT NULL,
  -- Of the first line, or of its first MiB.
  sha256 TEXT NOT NULL,
  -- The first bytes of the first line, at most 4 KiB, secrets taken out.
  sample BLOB NOT NULL,
  seen_ms INTEGER NOT NULL,
  UNIQUE (stream_id, line_offset)
) STRICT;

-- Which rows had been received by when, about every hour: those with lower ids. What was read late
-- is not removed the moment it comes in.
CREATE TABLE received (
  at_ms INTEGER PRIMARY KEY,
  next_call_id INTEGER NOT NULL,
  next_event_id INTEGER NOT NULL,
  next_quarantine_id INTEGER NOT NULL
) STRICT;

-- What was taken out again: nothing disappears without a count. No word of what was in it.
CREATE TABLE removal (
  -- "age:2026-03-10" and "size:2026-03-10" a UTC day, "forget:" and the request's id.
  key TEXT PRIMARY KEY,
  reason TEXT NOT NULL CHECK (reason IN ('age', 'size', 'forget')),
  first_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  calls INTEGER NOT NULL DEFAULT 0,
  events INTEGER NOT NULL DEFAULT 0,
  -- Refused lines whose entries, or for "forget" whose samples, were removed.
  refused_lines INTEGER NOT NULL DEFAULT 0,
  -- The newest started_ms among the calls.
  newest_ms INTEGER
) STRICT, WITHOUT ROWID;

-- What became of a request (see state-database.ts), kept for whoever asked.
CREATE TABLE answer (
  request_id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  answered_ms INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('done', 'refused')),
  -- JSON: {"counts": {…}} or {"reason": "…"}.
  result TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row: who ingests, and when it last looked. The dashboard shows its age as the lag.
CREATE TABLE ingester (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  pid INTEGER NOT NULL,
  started_ms INTEGER NOT NULL,
  last_poll_ms INTEGER NOT NULL,
  -- Bytes seen in files and not yet committed.
  lag_bytes INTEGER NOT NULL,
  -- JSON: the directories and globs that are watched, and files that could not be read, with why.
  roots TEXT NOT NULL,
  problems TEXT NOT NULL
) STRICT;
`

/** For people. It holds nothing, so that it is made anew with each version of the schema. */
export const CALLS_VIEW_SQL = `
DROP VIEW IF EXISTS calls;
CREATE VIEW calls AS
SELECT
  call.id AS id,
  call_text.uid AS uid,
  strftime('%Y-%m-%dT%H:%M:%fZ', call.started_ms / 1000.0, 'unixepoch') AS started,
  call.started_ms AS started_ms,
  call.duration_us / 1000.0 AS duration_ms,
  server.name AS server,
  server.version AS server_version,
  tool.name AS tool,
  client.name AS client,
  client.version AS client_version,
  session.key AS session,
  protocol.version AS protocol,
  protocol.transport AS transport,
  outcome.name AS outcome,
  error_class.name AS class,
  call_text.detail ->> '$.error.code' AS error_code,
  call_text.detail ->> '$.error.message' AS error_message,
  call_text.args AS args,
  call_text.detail AS detail,
  stream.path AS file,
  call.line_offset AS line_offset
FROM call
JOIN call_text ON call_text.call_id = call.id
JOIN server ON server.id = call.server_id
JOIN tool ON tool.id = call.tool_id
JOIN client ON client.id = call.client_id
JOIN outcome ON outcome.id = call.outcome_id
JOIN error_class ON error_class.id = call.class_id
JOIN stream ON stream.id = call.stream_id
LEFT JOIN session ON session.id = call.session_id
LEFT JOIN protocol ON protocol.id = call.protocol_id;
`
