import type { SignatureRow, WrongNameRow } from './call-store.ts'
import { OPEN } from './count-questions.ts'
import type { Filter } from './filter.ts'
import type { Reader } from './reader.ts'
import { searchBound } from './search-bound.ts'
import {
  ARGS_OF,
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
    const exposure = exposureOfTools(reader, filter)
    return found.map((row) => signatureRow(reader, row, exposure))
  })
}

/**
 * All calls of the tools under the filter, well or ill: not only those with the signatures. Sessions
 * are counted among the newest calls, and scaled up where there are more.
 */
function exposureOfTools(reader: Reader, filter: Filter): Map<number, ToolExposureRow> {
  const wide: Filter = { ...filter, class: OPEN, outcome: OPEN, flag: OPEN, signature: undefined }
  const { fromMs, searched, calls } = searchBound(reader, wide)
  const { calls: where } = reader.select({ ...wide, fromMs })
  const rows = reader.all<ToolExposureRow>(toolExposureRows(where), where.values)
  const scale = searched === 0 ? 1 : calls / searched
  return new Map(
    rows.map((row) => [
      row.tool_id,
      {
        tool_id: row.tool_id,
        calls: Math.round(row.calls * scale),
        sessions: Math.round(row.sessions * scale),
      },
    ]),
  )
}

function signatureRow(
  reader: Reader,
  row: SignatureDbRow,
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
    // An estimate must not fall below what was counted.
    toolCalls: Math.max(row.calls, exposure.get(row.tool_id)?.calls ?? 0),
    toolSessions: Math.max(row.sessions, exposure.get(row.tool_id)?.sessions ?? 0),
    firstMs: row.first_ms,
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
