// The pages that users read, and what of them is not run.

import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Block, blocksOf } from './markdown.ts'

export const repository = fileURLToPath(new URL('../..', import.meta.url))

/** Paths from the repository's root. */
export const pages: readonly string[] = [
  'README.md',
  'client/README.md',
  ...globSync('docs/**/*.md', { cwd: repository }).sort(),
]

export function readPage(page: string): string {
  return readFileSync(`${repository}/${page}`, 'utf8')
}

/** Every block stands for itself: it is run, or it is here with the reason. A line that fits no block fails. */
// biome-ignore format: a line each
const notRun: readonly { page: string; begins: string; because: string }[] = [
  { page: 'README.md', begins: 'npm ci && npm start', because: 'it is what runs this test; cli/test/dev.test.ts starts the samples' },
  { page: 'README.md', begins: 'DATABASE_URL=', because: 'the database in it is somebody\'s own; server/test/nodes/ starts such nodes' },
  { page: 'docs/deploy.md', begins: 'docker compose -f deploy/compose.yaml', because: 'no engine here; deploy/test/ holds the files against the server' },
  { page: 'docs/deploy.md', begins: 'cp deploy/.env.example', because: 'no engine here; deploy/test/ holds the files against the server' },
  { page: 'docs/deploy.md', begins: 'docker compose -f deploy/compose.three-nodes.yaml', because: 'no engine here; deploy/test/ holds the files against the server' },
  { page: 'docs/deploy.md', begins: 'helm install', because: 'no cluster here; deploy/test/ holds the chart against the manifests' },
  { page: 'docs/deploy.md', begins: 'kubectl', because: 'no cluster here; deploy/test/ holds the manifests against the server' },
  { page: 'docs/deploy.md', begins: 'cp deploy/jobcast.service', because: 'it would change this machine' },
  { page: 'docs/selectors.md', begins: 'where = or', because: 'a grammar' },
  { page: 'docs/install.md', begins: 'npm run package', because: 'deploy/test/packages.test.ts does it' },
  { page: 'docs/install.md', begins: '…\n…/jobcast-0.1.0.tgz', because: 'deploy/test/packages.test.ts makes these files' },
  { page: 'docs/install.md', begins: 'npm install --global', because: 'it would change this machine; deploy/test/packages.test.ts installs the files in a folder' },
  { page: 'docs/agent.md', begins: 'install -m 755 jobcast-agent', because: 'it would change this machine; agent/test/programs.test.ts runs both programs, and enrolls' },
  { page: 'docs/threat-model.md', begins: 'strangers', because: 'a diagram' },
  { page: 'docs/states.md', begins: 'stateDiagram-v2', because: 'a picture; server/test/domain/execution/states-picture.test.ts holds it against the table' },
]

export function examplesOf(page: string): Block[] {
  return blocksOf(readPage(page)).filter((block) => !notRun.some((entry) => isMeant(entry, page, block)))
}

/** Entries of the list that no page has any more. */
export function staleNotRun(): string[] {
  return notRun
    .filter((entry) => !blocksOf(readPage(entry.page)).some((block) => isMeant(entry, entry.page, block)))
    .map(({ page, begins }) => `${page}: ${begins}`)
}

function isMeant({ page, begins }: { page: string; begins: string }, of: string, { text }: Block): boolean {
  return page === of && text.startsWith(begins)
}
