// The program before the newest migration of PostgreSQL, from the history of the repository. As long as there is
// only one migration, it is the last committed program.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')
const migrations = 'server/src/store/postgres/migrations'

type EarlierProgram = { path: string } | { missing: string }

/** Puts its sources into the folder. It uses the libraries of today. */
export function checkOutEarlier(folder: string): EarlierProgram {
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: root, maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const archive = git('archive', newestEarlier(git), '--', ...workspaces(), 'package.json')
    execFileSync('tar', ['-x', '-C', folder], { input: archive })
  } catch {
    return { missing: 'git has no earlier version here' }
  }
  linkLibraries(folder)
  return { path: join(folder, 'cli/bin/jobcast.js') }
}

type Git = (...words: string[]) => Buffer

/** The commit with the most migrations of today, but not all of them. */
function newestEarlier(git: Git): string {
  const now = readdirSync(join(root, migrations))
  const lines = (...words: string[]) =>
    git(...words)
      .toString()
      .trim()
      .split('\n')
  const commits = lines('log', '--full-history', '--format=%H', '-40', '--', migrations)
  const counted = ['HEAD', ...commits].flatMap((commit) => {
    const files = lines('ls-tree', '--name-only', `${commit}:${migrations}`)
    // Before the first release there were others, which have no place in an upgrade.
    return files.every((file) => now.includes(file)) ? [{ commit, count: files.length }] : []
  })
  const earlier = counted.filter(({ count }) => count < now.length).sort((a, b) => b.count - a.count)
  const [found] = [...earlier, ...counted]
  if (found === undefined) throw new Error('there is none')
  return found.commit
}

const workspaces = () => ['contract', 'server', 'client', 'agent', 'sim', 'cli', 'console']

function linkLibraries(folder: string): void {
  const libraries = join(folder, 'node_modules')
  mkdirSync(join(libraries, '@jobcast'), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '@jobcast' && name !== 'jobcast')
      symlinkSync(join(root, 'node_modules', name), join(libraries, name))
  }
  for (const name of workspaces()) {
    if (existsSync(join(folder, name))) symlinkSync(join(folder, name), join(libraries, '@jobcast', name))
  }
}
