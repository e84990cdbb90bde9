import { generateSampleLogs } from './generate-sample-logs.ts'
import { writeHostileFile } from './hostile.ts'
import { type Command, HELP, readFlags } from './read-flags.ts'
import { SampleLogError } from './write-logs.ts'

const EXIT_FAILURE = 1
const EXIT_USAGE = 2

async function run(command: Command): Promise<void> {
  switch (command.kind) {
    case 'help':
      console.log(HELP)
      break
    case 'hostile':
      printJson(writeHostileFile(command))
      break
    case 'samples':
      await writeSamples(command)
      break
  }
}

async function writeSamples(options: Command & { kind: 'samples' }): Promise<void> {
  const startedMs = performance.now()
  const onProgress = process.stderr.isTTY ? showProgress : undefined
  const { files, lines, calls, plantedSummary } = await generateSampleLogs({
    ...options,
    onProgress,
  })
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
  printJson(plantedSummary)
  console.error(
    `${lines} lines, ${calls} of them calls, in ${files.length} files in ${options.directory}, made in ${seconds} s.`,
  )
}

function printJson(value: unknown): void {
  console.log(JSON.stringify(value, undefined, 2))
}

function showProgress({ calls, ofCalls }: { calls: number; ofCalls: number }): void {
  process.stderr.write(`\r${calls} of ${ofCalls} calls${calls === ofCalls ? '\n' : ''}`)
}

try {
  await run(readFlags(process.argv.slice(2), Date.now()))
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = error instanceof SampleLogError ? EXIT_USAGE : EXIT_FAILURE
}
