import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editDistance, nearestName, wordsOf } from '../../server/wrapper/nearest-name.ts'

const names = (...list: string[]) => list.map((name) => ({ name }))

test('the edit distance counts a swap of neighbours as one', () => {
  assert.equal(editDistance('recieve', 'receive'), 1)
  assert.equal(editDistance('ca', 'abc'), 3)
  assert.equal(editDistance('', 'abc'), 3)
  assert.equal(editDistance('same', 'same'), 0)
})

test('names are split at separators and changes of case', () => {
  assert.deepEqual(wordsOf('parentFolderID'), ['parent', 'folder', 'id'])
  assert.deepEqual(wordsOf('HTTPServer_url-2'), ['http', 'server', 'url', '2'])
})

const right: [string, string[], string, string][] = [
  ['parent_folder_id', ['parentFolderId', 'title'], 'parentFolderId', 'same_word'],
  ['File-Path', ['file_path', 'filePaths'], 'file_path', 'same_word'],
  ['qurey', ['query', 'limit'], 'query', 'spelling'],
  ['adress', ['address', 'addressee'], 'address', 'spelling'],
  ['folderId', ['parentFolderId', 'title'], 'parentFolderId', 'shared_words'],
  ['user_name', ['name', 'age'], 'name', 'shared_words'],
  ['pattern', ['query', 'limit'], 'query', 'synonym'],
  ['dir', ['path', 'mode'], 'path', 'synonym'],
  ['max_results', ['limit', 'query'], 'limit', 'synonym'],
  ['uri', ['target_url'], 'target_url', 'synonym'],
  ['since', ['start_date', 'end_date'], 'start_date', 'synonym'],
]
for (const [wrong, real, expected, by] of right) {
  test(`"${wrong}" probably meant "${expected}"`, () => {
    const match = nearestName(wrong, names(...real))
    assert.equal(match?.name, expected)
    assert.equal(match?.by, by)
  })
}

for (const [wrong, real] of [
  ['colour', ['query', 'limit']],
  ['verbose', ['path', 'content']],
  ['timeout', ['title', 'body']],
  ['x', ['y', 'z']],
  ['id', ['ip']],
] as const) {
  test(`"${wrong}" gets no far-fetched guess`, () => {
    assert.equal(nearestName(wrong, names(...real)), undefined)
  })
}

test('between equals the one that fits by type wins, then the missing one', () => {
  const equals = [{ name: 'file_id' }, { name: 'user_id', missing: true }]
  assert.equal(nearestName('id', equals)?.name, 'user_id')
  const typed = [
    { name: 'file_id', fits: true },
    { name: 'user_id', missing: true },
  ]
  assert.equal(nearestName('id', typed)?.name, 'file_id')
})

test('a name of a megabyte is no name', () => {
  assert.equal(nearestName('x'.repeat(1_000_000), names('x')), undefined)
})
