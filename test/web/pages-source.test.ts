import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const web = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'web')

/** What must not stand in any source of the dashboard, and why. */
const FORBIDDEN: [RegExp, string][] = [
  [
    /\binnerHTML\s*=|insertAdjacentHTML|document\.write|\.srcdoc|dangerouslySetInnerHTML/,
    'S11: text may become markup',
  ],
  [/hx-on[:=]|hx-\w+="js:|hx-trigger="[^"]*\[/, 'needs eval, which the policy forbids'],
  [/\sstyle=["{]|<style\b|setAttribute\('style'/, 'an inline style, which the policy forbids'],
  [/https?:\/\/(?!127\.0\.0\.1|\$\{|www\.w3\.org\/2000\/svg)[a-z]/, 'another host'],
  [/\beval\(|new Function\(/, 'needs eval'],
  [/node:child_process|\bexec\(`|xdg-open/, 'S24: starts a program'],
]

const files = ['pages', 'static', 'security', '.'].flatMap((folder) =>
  readdirSync(join(web, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(web, folder, entry.name)),
)

test('the sources of the dashboard hold nothing that the policy forbids', () => {
  assert.ok(files.length > 30)
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    for (const [pattern, reason] of FORBIDDEN) {
      assert.doesNotMatch(text, pattern, `${relative(web, file)}: ${reason}`)
    }
  }
})

test('S14: markup is made from text in one place only, where it is escaped', () => {
  const raw = files.filter((file) => /\braw\(/.test(readFileSync(file, 'utf8')))
  assert.deepEqual(
    raw.map((file) => relative(web, file)),
    [join('pages', 'json-island.tsx')],
  )
})
