import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Ids of all living processes that descend from `pid`. Reads /proc: Linux only. */
export function descendantsOf(pid: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const parent = parentOf(Number(name))
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const found: number[] = []
  const visit = (id: number): void => {
    for (const child of children.get(id) ?? []) {
      found.push(child)
      visit(child)
    }
  }
  visit(pid)
  return found
}

export function isAlive(pid: number): boolean {
  return parentOf(pid) !== undefined
}

/** Undefined where it is gone, or only waits to be collected by its parent. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may hold anything; state and parent follow it.
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? undefined : Number(parent)
  } catch {
    return undefined
  }
}

/** Looks until `ask` says something other than undefined or false. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 60_000,
): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs
  while (performance.now() < deadlineMs) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    await sleep(50)
  }
  throw new Error(`It did not come about in ${timeoutMs} ms: ${what}`)
}
