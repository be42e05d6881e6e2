// Chromium from npm, unpacked once beside the other packages, with the libraries and the font that a bare machine lacks.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

export type Chromium = { executablePath: string; env: Record<string, string> }

const unpack = `import('@sparticuz/chromium').then(({ default: chromium }) => chromium.executablePath())`

export async function unpackChromium(): Promise<Chromium> {
  const here = import.meta.dirname
  // The browser has another address with each version, so an old one is not taken for the new one.
  const { version } = createRequire(import.meta.url)(versionFile()) as { version: string }
  const folder = join(here, '../../node_modules/.cache', `chromium-${version}`)
  if (!existsSync(folder)) await unpackInto(folder)
  return {
    executablePath: join(folder, 'chromium'),
    env: {
      ...(process.env as Record<string, string>),
      LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
      FONTCONFIG_PATH: join(folder, 'fonts'),
    },
  }
}

/** Beside it, then in its place: another test file may do the same at the same time. */
async function unpackInto(folder: string): Promise<void> {
  const own = `${folder}.${process.pid}`
  mkdirSync(own, { recursive: true })
  // The package unpacks to the folder for temporary files, and its libraries only where it takes itself to be at AWS.
  const env = { ...process.env, TMPDIR: own, TMP: own, TEMP: own, AWS_LAMBDA_JS_RUNTIME: 'nodejs22.x' }
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', unpack], {
    cwd: import.meta.dirname,
    env,
  })
  // Its own list of fonts names only places of AWS.
  const fonts = `<dir>${join(folder, 'fonts')}</dir><dir>/usr/share/fonts</dir><cachedir>${join(folder, 'font-cache')}</cachedir>`
  writeFileSync(join(own, 'fonts/fonts.conf'), `<fontconfig>${fonts}</fontconfig>\n`)
  try {
    renameSync(own, folder)
  } catch (error) {
    rmSync(own, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
}

function versionFile(): string {
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium')
  return join(dirname(entry), '../../package.json')
}
