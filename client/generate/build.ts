// `npm run build --workspace client` builds the published package, JavaScript and types, in dist/ or in a given folder.
// The sources are checked with the types of a browser and without those of Node, so that they run in both.

import { execFileSync } from 'node:child_process'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('../', import.meta.url))
const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))

export function buildPackage(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  execFileSync(process.execPath, [tsc, '--project', join(here, 'tsconfig.build.json'), '--outDir', folder], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  // In the repository, `exports` names the sources, which Node does not run under node_modules.
  const { scripts: _, ...described } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'))
  const exports = { '.': { types: './index.d.ts', default: './index.js' } }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ ...described, exports }, null, 2)}\n`)
  copyFileSync(join(here, 'README.md'), join(folder, 'README.md'))
  copyFileSync(join(here, '../LICENSE'), join(folder, 'LICENSE'))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildPackage(process.argv[2] ?? join(here, 'dist'))
