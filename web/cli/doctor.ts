import { type Command, Option } from 'commander'
import type { Finding, Severity } from '../../ingest/checkup/finding.ts'
import { defaultDatabasePath, defaultLogDirectory } from '../../server/call-log/state-directory.ts'
import { mayStyle, writeData } from './output.ts'
import { printable } from './table.ts'

type DoctorFlags = { logs?: string; db?: string; format: string }

/** Documented in docs/commands.md; 2 stays wrong usage. */
export const DOCTOR_EXIT: Readonly<Record<Severity, number>> = {
  ok: 0,
  note: 0,
  warning: 4,
  error: 1,
}

export function registerDoctor(program: Command): void {
  program
    .command('doctor')
    .description('look for what is wrong with logs, ingester and database')
    .option('--logs <directory>', 'the log directory (default: logs/ in the state directory)')
    .option('--db <file>', 'the database (default: unsilent.db in the state directory)')
    .addOption(new Option('--format <name>', 'output').choices(['table', 'json']).default('table'))
    .addHelpText('after', HELP)
    .action(doctor)
}

async function doctor(flags: DoctorFlags): Promise<void> {
  const { runCheckup } = await import('../../ingest/checkup/run-checkup.ts')
  const { worstOf } = await import('../../ingest/checkup/finding.ts')
  const findings = runCheckup({
    databasePath: flags.db ?? defaultDatabasePath(),
    roots: [flags.logs ?? defaultLogDirectory()],
    nowMs: Date.now(),
  })
  const severity = worstOf(findings)
  process.exitCode = DOCTOR_EXIT[severity]
  await writeData(flags.format === 'json' ? asJson(findings, severity) : asText(findings))
}

const WORDS: Readonly<Record<Severity, string>> = {
  ok: 'ok',
  note: 'note',
  warning: 'WARNING',
  error: 'ERROR',
}

const SEVERITY_WIDTH = 9
const CHECK_WIDTH = 13

/** For people and for grep alike: one line a finding, one for what to do. */
function asText(findings: readonly Finding[]): string {
  const styled = mayStyle(process.stdout)
  return findings
    .map(({ check, severity, found, advice }) => {
      const word = WORDS[severity].padEnd(SEVERITY_WIDTH)
      const mark = styled && severity !== 'ok' ? `\u001b[1m${word}\u001b[22m` : word
      const line = `${mark}${check.padEnd(CHECK_WIDTH)}${printable(found)}\n`
      const indent = ' '.repeat(SEVERITY_WIDTH + CHECK_WIDTH)
      return advice === undefined ? line : `${line}${indent}${printable(advice)}\n`
    })
    .join('')
}

/** `version` changes only when a key changes its meaning. */
function asJson(findings: readonly Finding[], severity: Severity): string {
  const document = {
    findings: findings.map((finding) => ({
      advice: finding.advice ?? null,
      check: finding.check,
      found: finding.found,
      severity: finding.severity,
    })),
    severity,
    version: 1,
  }
  return `${JSON.stringify(document, undefined, 2)}\n`
}

const HELP = `
Examples:
  unsilent doctor
  unsilent doctor --format json | jq '.findings[] | select(.severity != "ok")'

Exit codes: 0 nothing to do, 4 warnings, 1 errors.`
