// A rarely needed part of a screen, whose script is loaded when it is first shown.

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ErrorNote } from './error-note.tsx'

export function lazyPart<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): ComponentType<Props> {
  let Loaded: ComponentType<Props> | undefined
  return function LazyPart(props: Props) {
    const [, draw] = useState(false)
    const [hasFailed, setFailed] = useState(false)
    useEffect(() => {
      if (Loaded) return
      load().then(
        (part) => {
          Loaded = part.default
          draw(true)
        },
        () => setFailed(true),
      )
    }, [])
    if (Loaded) return <Loaded {...props} />
    if (!hasFailed) return null
    const error = new Error('A part of this screen could not be loaded.')
    return <ErrorNote error={error} onRetry={() => location.reload()} />
  }
}
