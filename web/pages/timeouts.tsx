import type { View } from './links.tsx'
export function TimeoutsPage({
  view,
}: {
  view: View
  windows: readonly unknown[]
  status: unknown
}) {
  return <h1>Timeouts {view.path}</h1>
}
