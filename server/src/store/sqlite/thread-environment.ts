// The environment of our threads. Node's compile cache is enabled for each thread (cli/bin/jobcast.js does this for the main
// one); without it every thread strips the types of its files again, which adds 0.35 s to a start from source. It is not set in
// process.env, which child processes would inherit.

import nodeModule from 'node:module'
import { dirname } from 'node:path'

export function threadEnvironment(): NodeJS.ProcessEnv {
  // The command line also loads this file on Node 20, which has no compile cache: a named import would fail there.
  // The last part is a folder for this version of Node, which Node adds again.
  const folder = nodeModule.getCompileCacheDir?.()
  return folder === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(folder) }
}
