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
  { page: 'docs/deploy.md', begins: 'openssl genpkey', because: 'not every machine has openssl' },
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
  { page: 'docs/guides/sign-in-with-keycloak.md', begins: 'public-url', because: 'it needs Keycloak; server/test/http/oidc.test.ts signs in at an issuer' },
  { page: 'docs/guides/sign-in-with-entra.md', begins: 'public-url', because: 'it needs Entra; server/test/http/oidc.test.ts signs in at an issuer' },
  { page: 'docs/guides/sign-in-with-google.md', begins: 'public-url', because: 'it needs Google; server/test/http/oidc.test.ts signs in at an issuer' },
  { page: 'docs/guides/github-actions-without-secrets.md', begins: 'oidc-trust', because: 'it needs GitHub; server/test/http/exchange.test.ts exchanges such tokens' },
  { page: 'docs/guides/github-actions-without-secrets.md', begins: 'permissions', because: 'it needs GitHub; deploy/test/github-action.test.ts runs the steps of the action' },
  { page: 'docs/guides/github-actions-without-secrets.md', begins: 'include', because: 'it needs GitLab; deploy/test/gitlab-template.test.ts runs the script' },
  { page: 'docs/bridge.md', begins: 'jobcast serve --bridge', because: 'the broker in it is somebody\'s own; server/test/gateway/bridge/ starts a mosquitto' },
  { page: 'docs/bridge.md', begins: 'jobcast doctor --bridge', because: 'the broker in it is somebody\'s own; cli/test/doctor-bridge.test.ts starts a mosquitto' },
  { page: 'docs/bridge.md', begins: 'bridge:', because: 'server/test/config/bridge-settings.test.ts reads such a file' },
  { page: 'docs/bridge.md', begins: 'user jobcast', because: 'server/test/gateway/bridge/access-rules.test.ts gives them to a mosquitto' },
  { page: 'docs/bridge.md', begins: '{allow, {user, "jobcast"}', because: 'there is no EMQX here' },
  { page: 'docs/assistants.md', begins: '{"mcpServers"', because: 'it configures an assistant; cli/test/mcp.test.ts starts this command' },
  { page: 'docs/guides/run-from-cron.md', begins: 'MAILTO=', because: 'it is a crontab; the page starts the script by itself' },
  { page: 'docs/guides/react-in-node-red.md', begins: 'jobcast serve', because: 'the broker in it is somebody\'s own; node-red.test.ts starts a mosquitto' },
  { page: 'docs/guides/react-in-node-red.md', begins: 'JOBCAST_URL=', because: 'there is no Node-RED here; node-red.test.ts runs the function of the flow' },
  { page: 'docs/guides/react-in-node-red.md', begins: '// The broker', because: 'node-red.test.ts runs it' },
  { page: 'docs/assistants.md', begins: 'npx @modelcontextprotocol', because: 'it fetches the inspector; server/test/http/mcp.test.ts makes such calls with the SDK' },
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
