#!/usr/bin/env node
// Nothing is imported before the check, and the syntax is old, so that an older Node gets to say
// what is missing instead of failing on the first new word.
const LEAST_NODE = [20, 19] as const

const found = process.versions.node.split('.').map(Number)
const major = found[0] || 0
const minor = found[1] || 0

if (major < LEAST_NODE[0] || (major === LEAST_NODE[0] && minor < LEAST_NODE[1])) {
  process.stderr.write(
    `unsilent: Node.js ${LEAST_NODE.join('.')} or newer is needed and this is ${process.versions.node}: install a newer one from https://nodejs.org.\n`,
  )
  process.exitCode = 1
} else {
  import('./run.ts').then(
    ({ run }) => run(process.argv.slice(2)),
    (error) => {
      process.stderr.write(`unsilent: the installation is incomplete: ${error.message}\n`)
      process.exitCode = 1
    },
  )
}
