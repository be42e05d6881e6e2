// Which files of libraries a bundle really holds.

import type { Plugin } from 'rolldown'

/** Adds their paths to `found`. Behind the other plugins: what one of those loads instead of a file is no file of a library. */
export function recordModules(found: Set<string>): Plugin {
  const read = new Set<string>()
  return {
    name: 'record-modules',
    load(id) {
      read.add(id)
    },
    generateBundle(_options, files) {
      for (const file of Object.values(files)) {
        if (file.type !== 'chunk') continue
        for (const [id, { renderedLength }] of Object.entries(file.modules))
          if (renderedLength > 0 && read.has(id) && id.includes('node_modules')) found.add(id)
      }
    },
  }
}
