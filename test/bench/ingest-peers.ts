import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a user may reach for instead. Each reads the same files in a process of its own. */
type Peer = { name: string; needs: string; command(paths: readonly string[], dir: string): string }

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
const all = (paths: readonly string[]): string => paths.map(quote).join(' ')

const PEERS: readonly Peer[] = [
  {
    name: 'sqlite3 .import and ->>',
    needs: 'sqlite3',
    command: (paths, dir) =>
      `cat ${all(paths)} > ${dir}/all.jsonl; sqlite3 ${dir}/peer.db ".mode ascii" '.separator "\\037" "\\n"' "CREATE TABLE line (json TEXT)" ".import ${dir}/all.jsonl line" "CREATE TABLE call AS SELECT json ->> 'time' AS time, json ->> 'tool' AS tool, json ->> 'outcome' AS outcome, json ->> '$.error.class' AS class, json ->> 'duration_ms' AS ms, json ->> 'call' AS uid, json ->> 'session' AS session, json ->> 'args' AS args, json ->> 'result' AS result FROM line WHERE json ->> 'kind' = 'call'"`,
  },
  {
    name: 'jq | sort | uniq -c',
    needs: 'jq',
    command: (paths) =>
      `cat ${all(paths)} | jq -r '[.tool, .error.class] | @tsv' | sort | uniq -c > /dev/null`,
  },
  {
    name: 'lnav, one query',
    needs: 'lnav',
    command: (paths) =>
      `lnav -n -c ';SELECT count(*) FROM all_logs' ${all(paths)} > /dev/null 2>&1`,
  },
  {
    name: 'ClickHouse into a table',
    needs: 'clickhouse-local',
    command: (paths) =>
      `cat ${all(paths)} | clickhouse-local --input-format JSONEachRow --structure 'time Int64, tool String, outcome String, duration_ms Float64' --input_format_skip_unknown_fields 1 --query 'CREATE TABLE call ENGINE = MergeTree ORDER BY time AS SELECT * FROM table'`,
  },
]

/** DuckDB is no program of the machine but a package, installed into a folder of its own. */
function installDuckDb(dir: string): string | undefined {
  const home = join(dir, 'duckdb')
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{"private":true,"type":"module"}')
  const { status } = spawnSync('npm', ['install', '--silent', '@duckdb/node-api'], {
    cwd: home,
    timeout: 180_000,
  })
  if (status !== 0) return undefined
  const script = join(home, 'load.js')
  writeFileSync(
    script,
    `import { DuckDBInstance } from '@duckdb/node-api'
const [database, ...paths] = process.argv.slice(2)
const instance = await DuckDBInstance.create(database, { threads: '1' })
const connection = await instance.connect()
const files = paths.map((path) => "'" + path.replaceAll("'", "''") + "'").join(',')
await connection.run("CREATE TABLE call AS SELECT * FROM read_json([" + files + "], format = 'newline_delimited', columns = {time: 'BIGINT', kind: 'VARCHAR', tool: 'VARCHAR', outcome: 'VARCHAR', duration_ms: 'DOUBLE', call: 'VARCHAR', session: 'VARCHAR', error: 'JSON', args: 'JSON', result: 'JSON'})")
connection.closeSync()
`,
  )
  return script
}

function cpuSeconds(command: string): number | undefined {
  const script = `TIMEFORMAT='%U %S'; time { ${command}; }`
  const { status, stderr } = spawnSync('bash', ['-c', script], {
    encoding: 'utf8',
    timeout: 600_000,
  })
  const times = /([\d.]+) ([\d.]+)\s*$/.exec(stderr)
  return status === 0 && times ? Number(times[1]) + Number(times[2]) : undefined
}

/** Prints each peer's CPU time, and its ratio to ours: below 1 the peer is cheaper. */
export function comparePeers(paths: readonly string[], dir: string, oursSeconds: number): void {
  console.log(`\npeers, CPU of one process each (ours ${oursSeconds.toFixed(2)} s)`)
  for (const { name, needs, command } of PEERS) {
    if (spawnSync('bash', ['-c', `command -v ${needs}`]).status !== 0) {
      console.log(`${name}: skipped, ${needs} is not installed here`)
      continue
    }
    report(name, cpuSeconds(command(paths, dir)), oursSeconds)
  }
  const duckDb = installDuckDb(dir)
  if (!duckDb) {
    console.log('DuckDB: skipped, its package could not be installed')
    return
  }
  const database = quote(join(dir, 'peer.duckdb'))
  report(
    'DuckDB read_json, explicit columns, 1 thread',
    cpuSeconds(`node ${quote(duckDb)} ${database} ${all(paths)}`),
    oursSeconds,
  )
  rmSync(join(dir, 'duckdb'), { recursive: true, force: true })
}

function report(name: string, seconds: number | undefined, oursSeconds: number): void {
  if (seconds === undefined) console.log(`${name}: failed`)
  else
    console.log(`${name}: ${seconds.toFixed(2)} s, ${(seconds / oursSeconds).toFixed(2)} of ours`)
}
