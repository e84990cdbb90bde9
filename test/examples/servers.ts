import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderOf } from '../install-packages.ts'

/**
 * The official example servers, at the versions they were compared with. Their packages name no
 * plain MIT licence and bring a hundred others, so they are not among the dependencies.
 */
export const EXAMPLES = {
  folder: 'unsilent-example-servers',
  packages: [
    '@modelcontextprotocol/server-everything@2026.8.31',
    '@modelcontextprotocol/server-memory@2026.8.31',
    '@modelcontextprotocol/server-filesystem@2026.8.31',
    '@modelcontextprotocol/server-sequential-thinking@2026.8.31',
    '@modelcontextprotocol/sdk@1.32.2',
  ],
}

/** One call, and what the wrapper by its design answers in other words. */
export type ExampleCall = {
  tool: string
  args: Record<string, unknown>
  /** Asks for progress. */
  progress?: true
  /** Asks for a task, and follows it to its result. */
  task?: true
  /** The tool throws an error for the model to read: the wrapper keeps it in the log. */
  throws?: RegExp
  /** What the wrapper says where the SDK refuses the call for another reason than its arguments. */
  refused?: RegExp
}

export type ExampleServer = {
  name: string
  /** Arguments of its command line. */
  args(directory: string): string[]
  env(directory: string): Record<string, string>
  /** Makes the directory as it was: every session begins with the same. */
  prepare(directory: string): void
  /** All its tools with sound arguments, in an order that makes sense. */
  calls(directory: string): ExampleCall[]
}

export function entryOf({ name }: ExampleServer): string {
  return join(folderOf(EXAMPLES), 'node_modules', '@modelcontextprotocol', name, 'dist/index.js')
}

function emptied(directory: string): void {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
}

const alice = { name: 'Alice', entityType: 'person', observations: ['likes tea'] }
const bob = { name: 'Bob', entityType: 'person', observations: [] }
const knows = { from: 'Alice', to: 'Bob', relationType: 'knows' }

const memory: ExampleServer = {
  name: 'server-memory',
  args: () => [],
  env: (directory) => ({ MEMORY_FILE_PATH: join(directory, 'memory.jsonl') }),
  prepare: emptied,
  calls: () => [
    { tool: 'read_graph', args: {} },
    { tool: 'create_entities', args: { entities: [alice, bob] } },
    { tool: 'create_relations', args: { relations: [knows] } },
    {
      tool: 'add_observations',
      args: { observations: [{ entityName: 'Alice', contents: ['likes cake', 'likes tea'] }] },
    },
    {
      tool: 'add_observations',
      args: { observations: [{ entityName: 'Nobody', contents: ['is not there'] }] },
      throws: /Entity with name Nobody not found/,
    },
    { tool: 'search_nodes', args: { query: 'cake' } },
    { tool: 'search_nodes', args: { query: 'nothing like it' } },
    { tool: 'open_nodes', args: { names: ['Alice', 'Carol'] } },
    {
      tool: 'delete_observations',
      args: { deletions: [{ entityName: 'Alice', observations: ['likes tea'] }] },
    },
    { tool: 'delete_relations', args: { relations: [knows] } },
    { tool: 'delete_entities', args: { entityNames: ['Bob'] } },
    { tool: 'read_graph', args: {} },
  ],
}

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)
const LONG_AGO = new Date('2026-01-02T03:04:05Z')

const filesystem: ExampleServer = {
  name: 'server-filesystem',
  args: (directory) => [directory],
  env: () => ({}),
  prepare(directory) {
    emptied(directory)
    mkdirSync(join(directory, 'deep', 'er'), { recursive: true })
    writeFileSync(join(directory, 'notes.txt'), 'one\ntwo\nthree\n')
    writeFileSync(join(directory, 'dot.png'), PIXEL)
    writeFileSync(join(directory, 'data.bin'), Buffer.from([0, 1, 2, 255]))
    writeFileSync(join(directory, 'deep', 'er', 'leaf.md'), '# leaf\n')
    writeFileSync(join(directory, 'empty.txt'), '')
    for (const name of ['notes.txt', 'dot.png', 'data.bin', 'empty.txt']) {
      utimesSync(join(directory, name), LONG_AGO, LONG_AGO)
    }
  },
  calls(directory) {
    const at = (name: string) => join(directory, name)
    const outside = { throws: /Access denied - path outside allowed directories/ }
    const missing = { throws: /ENOENT: no such file or directory/ }
    return [
      { tool: 'list_allowed_directories', args: {} },
      { tool: 'read_file', args: { path: at('notes.txt') } },
      { tool: 'read_text_file', args: { path: at('notes.txt') } },
      { tool: 'read_text_file', args: { path: at('notes.txt'), head: 1 } },
      { tool: 'read_text_file', args: { path: at('notes.txt'), tail: 1 } },
      {
        tool: 'read_text_file',
        args: { path: at('notes.txt'), head: 1, tail: 1 },
        throws: /Cannot specify both head and tail/,
      },
      { tool: 'read_text_file', args: { path: at('empty.txt') } },
      { tool: 'read_text_file', args: { path: at('absent.txt') }, ...missing },
      { tool: 'read_text_file', args: { path: '/etc/hostname' }, ...outside },
      { tool: 'read_media_file', args: { path: at('dot.png') } },
      { tool: 'read_media_file', args: { path: at('data.bin') } },
      { tool: 'read_media_file', args: { path: at('absent.png') }, ...missing },
      { tool: 'read_multiple_files', args: { paths: [at('notes.txt'), at('absent.txt')] } },
      { tool: 'list_directory', args: { path: directory } },
      { tool: 'list_directory', args: { path: at('absent') }, ...missing },
      { tool: 'list_directory_with_sizes', args: { path: directory, sortBy: 'size' } },
      { tool: 'directory_tree', args: { path: directory } },
      { tool: 'search_files', args: { path: directory, pattern: '**/*.md' } },
      { tool: 'search_files', args: { path: directory, pattern: '**/*.none' } },
      { tool: 'get_file_info', args: { path: at('notes.txt') } },
      { tool: 'create_directory', args: { path: at('fresh') } },
      { tool: 'write_file', args: { path: at('fresh/a.txt'), content: 'red\ngreen\n' } },
      { tool: 'write_file', args: { path: '/etc/never', content: '' }, ...outside },
      {
        tool: 'edit_file',
        args: { path: at('fresh/a.txt'), edits: [{ oldText: 'red', newText: 'blue' }] },
      },
      {
        tool: 'edit_file',
        args: { path: at('fresh/a.txt'), edits: [{ oldText: 'pink', newText: 'blue' }] },
        throws: /Could not find exact match for edit/,
      },
      { tool: 'move_file', args: { source: at('fresh/a.txt'), destination: at('fresh/b.txt') } },
      { tool: 'read_text_file', args: { path: at('fresh/b.txt') } },
    ]
  },
}

const url = 'https://login.example/'

const everything: ExampleServer = {
  name: 'server-everything',
  args: () => ['stdio'],
  env: () => ({}),
  prepare: emptied,
  calls: () => [
    { tool: 'echo', args: { message: 'hello' } },
    { tool: 'get-sum', args: { a: 2, b: 3 } },
    { tool: 'get-env', args: {} },
    { tool: 'get-tiny-image', args: {} },
    { tool: 'get-annotated-message', args: { messageType: 'error', includeImage: true } },
    { tool: 'get-resource-links', args: { count: 3 } },
    { tool: 'get-resource-reference', args: { resourceType: 'Text', resourceId: 1 } },
    {
      tool: 'get-resource-reference',
      args: { resourceType: 'Text', resourceId: -1 },
      throws: /Invalid resourceId/,
    },
    { tool: 'get-structured-content', args: { location: 'Chicago' } },
    {
      tool: 'gzip-file-as-resource',
      args: { name: 'a.gz', data: 'data:text/plain,hello', outputType: 'resource' },
    },
    {
      tool: 'gzip-file-as-resource',
      args: { name: 'b.gz', data: 'data:text/plain,hello', outputType: 'resourceLink' },
    },
    {
      tool: 'gzip-file-as-resource',
      args: { name: 'c.gz', data: 'ftp://example.test/', outputType: 'resource' },
      throws: /Unsupported URL protocol/,
    },
    { tool: 'trigger-long-running-operation', args: { duration: 0.4, steps: 4 }, progress: true },
    { tool: 'trigger-sampling-request', args: { prompt: 'Say it', maxTokens: 5 } },
    { tool: 'trigger-elicitation-request', args: {} },
    { tool: 'trigger-url-elicitation', args: { url, elicitationId: 'e-1' } },
    { tool: 'trigger-url-elicitation', args: { url, elicitationId: 'e-2', errorPath: true } },
    { tool: 'trigger-url-elicitation', args: { url, elicitationId: 'e-2', errorPath: true } },
    { tool: 'trigger-sampling-request-async', args: { prompt: 'Say it' } },
    { tool: 'trigger-elicitation-request-async', args: {} },
    { tool: 'simulate-research-query', args: { topic: 'tea' }, task: true },
    {
      tool: 'simulate-research-query',
      args: { topic: 'tea' },
      refused: /^Tool "simulate-research-query" runs as a task only: send `task` with the call\.$/,
    },
    { tool: 'toggle-simulated-logging', args: {} },
    { tool: 'toggle-simulated-logging', args: {} },
    { tool: 'toggle-subscriber-updates', args: {} },
    { tool: 'toggle-subscriber-updates', args: {} },
    { tool: 'get-roots-list', args: {} },
  ],
}

const thought = {
  thought: 'First this',
  nextThoughtNeeded: true,
  thoughtNumber: 1,
  totalThoughts: 2,
}

const sequentialThinking: ExampleServer = {
  name: 'server-sequential-thinking',
  args: () => [],
  env: () => ({}),
  prepare: emptied,
  calls: () => [
    { tool: 'sequentialthinking', args: thought },
    {
      tool: 'sequentialthinking',
      args: { ...thought, thought: 'Then that', thoughtNumber: '2', nextThoughtNeeded: 'false' },
    },
  ],
}

export const exampleServers: readonly ExampleServer[] = [
  everything,
  memory,
  filesystem,
  sequentialThinking,
]
