// Chromium from npm, installed and unpacked once, with the libraries and the font that a bare machine lacks.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

type Chromium = { executablePath: string; env: Record<string, string> }

const run = promisify(execFile)
const here = import.meta.dirname
const unpack = `import('@sparticuz/chromium').then(({ default: chromium }) => chromium.executablePath())`

/** Its package has a browser for one kind of machine only. */
export function canUnpackChromium(): boolean {
  return process.platform === 'linux' && process.arch === 'x64'
}

export async function unpackChromium(): Promise<Chromium> {
  // The browser has another address with each version, so an old one is not taken for the new one.
  const folder = join(here, '../../node_modules/.cache', `chromium-${wantedVersion()}`)
  const executablePath = join(folder, 'chromium')
  // Not the folder: a browser that was copied from here with its configuration keeps its list of fonts there.
  if (!existsSync(executablePath)) await unpackInto(folder, executablePath)
  return {
    executablePath,
    env: {
      ...(process.env as Record<string, string>),
      LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
      FONTCONFIG_PATH: join(folder, 'fonts'),
    },
  }
}

/** Beside it, then in its place: another test file may do the same at the same time. */
async function unpackInto(folder: string, executablePath: string): Promise<void> {
  const own = `${folder}.${process.pid}`
  try {
    await unpackBeside(own, folder)
    if (!existsSync(executablePath)) rmSync(folder, { recursive: true, force: true })
    renameSync(own, folder)
  } catch (error) {
    rmSync(own, { recursive: true, force: true })
    if (!existsSync(executablePath)) throw error
  }
}

async function unpackBeside(own: string, folder: string): Promise<void> {
  mkdirSync(own, { recursive: true })
  for (const name of ['package.json', 'package-lock.json', '.npmrc']) {
    writeFileSync(join(own, name), readFileSync(join(here, 'chromium', name)))
  }
  await run('npm', ['ci'], { cwd: own })
  // The package unpacks to the folder for temporary files, and its libraries only where it takes itself to be at AWS.
  const env = { ...process.env, TMPDIR: own, TMP: own, TEMP: own, AWS_LAMBDA_JS_RUNTIME: 'nodejs22.x' }
  await run(process.execPath, ['--input-type=module', '--eval', unpack], { cwd: own, env })
  rmSync(join(own, 'node_modules'), { recursive: true })
  // Its own list of fonts names only positions of AWS.
  const fonts = `<dir>${join(folder, 'fonts')}</dir><dir>/usr/share/fonts</dir><cachedir>${join(folder, 'font-cache')}</cachedir>`
  writeFileSync(join(own, 'fonts/fonts.conf'), `<fontconfig>${fonts}</fontconfig>\n`)
}

function wantedVersion(): string {
  const manifest = JSON.parse(readFileSync(join(here, 'chromium/package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  return manifest.dependencies['@sparticuz/chromium'] ?? ''
}
