import type { ArgumentIssue } from '../../server/call-log/record.ts'
import type { Database } from './load-sqlite.ts'
import { primaryIssue, signatureOf } from './signature.ts'

/** Stores which signatures a call's issues have. */
export type Signatures = {
  store(
    callId: number,
    toolId: number,
    server: string,
    tool: string,
    issues: readonly ArgumentIssue[],
  ): void
  forget(): void
}

/** A call with thousands of issues is still one mistake. */
const MAX_ISSUES = 50
const MAX_REMEMBERED = 50_000
const MAX_REMEMBERED_LENGTH = 1024

/** Of the very same issue; several may have one signature. Cheaper than its fingerprint. */
function keyOf(server: string, tool: string, issue: ArgumentIssue): string {
  const { code, path, expected, received, subtype, suggest } = issue
  return JSON.stringify([server, tool, code, path, expected, received, subtype, suggest])
}

export function createSignatures(database: Database): Signatures {
  const ids = new Map<string, number>()
  const add = database.prepare(`
    INSERT OR IGNORE INTO signature
      (fingerprint, tool_id, code, path, subtype, expected, received, suggest)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
  const find = database.prepare('SELECT id FROM signature WHERE fingerprint = ?').pluck()
  const link = database.prepare(
    'INSERT INTO call_signature (signature_id, call_id, is_primary) VALUES (?, ?, ?)',
  )

  function idOf(toolId: number, server: string, tool: string, issue: ArgumentIssue): number {
    const key = keyOf(server, tool, issue)
    const known = ids.get(key)
    if (known !== undefined) return known
    const signature = signatureOf(server, tool, issue)
    add.run(
      signature.fingerprint,
      toolId,
      signature.code,
      signature.path,
      signature.subtype ?? null,
      signature.expected ?? null,
      signature.received ?? null,
      signature.suggest ?? null,
    )
    const id = find.get(signature.fingerprint) as number
    if (ids.size >= MAX_REMEMBERED) ids.clear()
    if (key.length <= MAX_REMEMBERED_LENGTH) ids.set(key, id)
    return id
  }

  return {
    store(callId, toolId, server, tool, allIssues) {
      const issues = allIssues.slice(0, MAX_ISSUES)
      const primary = primaryIssue(issues)
      // Two issues may have one signature (items[0].id, items[1].id): the primary one wins.
      const isPrimary = new Map<number, boolean>()
      for (const [index, issue] of issues.entries()) {
        const id = idOf(toolId, server, tool, issue)
        isPrimary.set(id, index === primary || isPrimary.get(id) === true)
      }
      for (const [id, primaryHere] of isPrimary) link.run(id, callId, primaryHere ? 1 : 0)
    },
    forget: () => ids.clear(),
  }
}
