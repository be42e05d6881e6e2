// The browser of the tests: the given one, otherwise one of this machine, otherwise the one from npm if it fits.

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { canUnpackChromium, unpackChromium } from './unpack-chromium.ts'

type BrowserProgram = { executablePath: string; env?: Record<string, string> }

const remedy =
  'install Chromium or Chrome (Debian: apt-get install chromium), or set JOBCAST_TEST_BROWSER to its path'

/** The shell first: the same engine without windows, tabs and profiles. A page costs it a quarter of the CPU time. */
const names = [
  'chromium-headless-shell',
  'chrome-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
]

const installed: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ],
  win32: [process.env.PROGRAMFILES, process.env['PROGRAMFILES(X86)'], process.env.LOCALAPPDATA]
    .filter((folder) => folder !== undefined)
    .map((folder) => join(folder, 'Google/Chrome/Application/chrome.exe')),
}

let found: Promise<BrowserProgram> | undefined

/** Installs a browser if possible; rejects with one line if there is none. */
export function findBrowser(): Promise<BrowserProgram> {
  found ??= find()
  return found
}

/** Undefined where there is one. */
export function whyNoBrowser(): Promise<string | undefined> {
  return findBrowser().then(
    () => undefined,
    (error: Error) => error.message,
  )
}

async function find(): Promise<BrowserProgram> {
  const executablePath = ofThisMachine()
  if (executablePath !== undefined) return { executablePath }
  if (!canUnpackChromium()) throw new Error(`no browser: ${remedy}`)
  return unpackChromium().catch((error: Error) => {
    const [why = ''] = /^npm error .*|^\w*Error: .*/m.exec(error.message) ?? error.message.split('\n')
    throw new Error(`no browser, and none could be installed from npm (${why}): ${remedy}`)
  })
}

function ofThisMachine(): string | undefined {
  const named = process.env.JOBCAST_TEST_BROWSER
  // If the given browser does not exist, the tests report that and do not use another one.
  if (named) return named
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const onPath = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  return [...onPath, ...(installed[process.platform] ?? [])].find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
