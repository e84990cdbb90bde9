import type { SignatureRow, WrongNameRow } from './call-store.ts'
import { OPEN } from './count-questions.ts'
import type { Filter } from './filter.ts'
import type { Reader } from './reader.ts'
import {
  ARGS_OF,
  type FirstRow,
  firstRows,
  type SignatureDbRow,
  signatureRows,
  type ToolExposureRow,
  toolExposureRows,
  type WrongNameDbRow,
  wrongNameRows,
} from './sql/signatures.ts'

export function signatures(reader: Reader, filter: Filter): SignatureRow[] {
  return reader.remember('signatures', filter, () => {
    const { calls: where } = reader.select(filter)
    const found = reader.all<SignatureDbRow>(signatureRows(where), where.values)
    const first = new Map(
      reader
        .all<FirstRow>(firstRows(where), where.values)
        .map((row): [number, number] => [row.signature_id, row.first_ms]),
    )
    const exposure = exposureOfTools(reader, filter)
    return found.map((row) => signatureRow(reader, row, first.get(row.id), exposure))
  })
}

/** All calls of the tools under the filter, well or ill: not only those with the signatures. */
function exposureOfTools(reader: Reader, filter: Filter): Map<number, ToolExposureRow> {
  const wide: Filter = { ...filter, class: OPEN, outcome: OPEN, flag: OPEN, signature: undefined }
  const { calls } = reader.select(wide)
  const rows = reader.all<ToolExposureRow>(toolExposureRows(calls), calls.values)
  return new Map(rows.map((row) => [row.tool_id, row]))
}

function signatureRow(
  reader: Reader,
  row: SignatureDbRow,
  firstMs: number | undefined,
  exposure: Map<number, ToolExposureRow>,
): SignatureRow {
  const { tools, clients } = reader.names()
  const tool = tools.get(row.tool_id)
  const clientNames = (JSON.parse(row.client_ids) as number[])
    .filter((id) => id !== 0)
    .map((id) => clients.get(id)?.name ?? '')
  return {
    fingerprint: row.fingerprint,
    server: tool?.server ?? '',
    tool: tool?.name ?? '',
    code: row.code,
    path: row.path,
    subtype: row.subtype ?? undefined,
    expected: row.expected ?? undefined,
    received: row.received ?? undefined,
    suggest: row.suggest ?? undefined,
    calls: row.calls,
    failures: row.failures,
    sessions: row.sessions,
    clients: [...new Set(clientNames)].sort(),
    toolCalls: exposure.get(row.tool_id)?.calls ?? row.calls,
    toolSessions: exposure.get(row.tool_id)?.sessions ?? row.sessions,
    firstMs: firstMs ?? row.last_ms,
    lastMs: row.last_ms,
    sampleCallId: row.sample_id,
    sampleArgs: reader.first<{ args: string | null }>(ARGS_OF, [row.sample_id])?.args ?? undefined,
  }
}

export function wrongNames(reader: Reader, filter: Filter): WrongNameRow[] {
  return reader.remember('wrong names', filter, () => {
    const { calls } = reader.select(filter)
    const { tools } = reader.names()
    return reader.all<WrongNameDbRow>(wrongNameRows(calls), calls.values).map((row) => ({
      server: tools.get(row.tool_id)?.server ?? '',
      tool: tools.get(row.tool_id)?.name ?? '',
      unknown: { fingerprint: row.unknown_fingerprint, path: row.unknown_path },
      missing: { fingerprint: row.missing_fingerprint, path: row.missing_path },
      calls: row.calls,
      sessions: row.sessions,
    }))
  })
}
