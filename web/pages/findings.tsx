import type { Finding } from '../analysis/finding.ts'
import type { FindingsStatus } from '../analysis/findings.ts'
import type { TimeoutWindow } from '../analysis/timeout-window.ts'
import { FindingCards } from './finding-cards.tsx'
import { plural } from './format.ts'

/** All of them, best first, where the overview shows a few. */
export function FindingsPage({
  findings,
  windows,
  status,
}: {
  findings: readonly Finding[]
  windows: readonly TimeoutWindow[]
  status: FindingsStatus
}) {
  return (
    <>
      <h1>{findings.length === 0 ? 'No findings' : plural(findings.length, 'finding')}</h1>
      <p class="lead">
        {status.tested} {status.missing}
      </p>
      <FindingCards findings={findings} windows={windows} level="h2" />
    </>
  )
}
