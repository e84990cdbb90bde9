import { basename } from 'node:path'
import { type Life, SILENCE_MS } from './lives.ts'
import type { PlantedSummary } from './planted.ts'
import type { Process } from './simulation.ts'
import type { SpecialEvents } from './special-events.ts'
import type { Tally } from './tally.ts'
import type { Windows } from './windows.ts'

export type SummaryOptions = {
  processes: readonly Process[]
  special: SpecialEvents
  windows: Windows
  tally: Tally
}

/** What was written, for people and tests to compare with what they find. */
export function summarize({ processes, special, windows, tally }: SummaryOptions): PlantedSummary {
  const lives = processes.map(({ life }) => life)
  const died = lifeThat(lives, 'death')
  const refused = lifeThat(lives, 'fatal')
  const crashed = processes.find(({ life }) => life.ending === 'crash')
  const { rotated, lossy } = special
  if (!crashed?.crashedCall || !lossy.lost) throw new RangeError('A planted event did not happen.')
  return {
    nightly: windows.nightly,
    weekly: windows.weekly,
    ...tally.plants(),
    silence: {
      ...named(died),
      diedMs: died.endMs,
      backMs: died.endMs + SILENCE_MS,
      openCalls: special.hangingCalls,
    },
    crash: { ...named(crashed.life), atMs: crashed.life.endMs, call: crashed.crashedCall },
    fatalStart: { ...named(refused), atMs: refused.startMs },
    rotated: { ...named(rotated.life), files: rotated.fileNames.map((name) => basename(name)) },
    dropped: { ...named(lossy.life), ...lossy.lost },
    versionChanges: versionChanges(lives),
  }
}

function named({ server, writer }: Life): { server: string; writer: string } {
  return { server, writer }
}

function lifeThat(lives: readonly Life[], ending: Life['ending']): Life {
  const life = lives.find((candidate) => candidate.ending === ending)
  if (!life) throw new RangeError(`No process ends by ${ending}.`)
  return life
}

function versionChanges(lives: readonly Life[]): PlantedSummary['versionChanges'] {
  return lives.flatMap((life, index) => {
    const before = lives[index - 1]
    if (before?.server !== life.server || before.version === life.version) return []
    return [{ server: life.server, from: before.version, to: life.version, atMs: life.startMs }]
  })
}
