// An action of the user: it is in progress, has failed, or is done.

import { useState } from 'preact/hooks'
import { noteRefusal } from './refusal.ts'

type Action<Args extends unknown[]> = {
  run: (...args: Args) => Promise<void>
  isRunning: boolean
  error: unknown
}

export function useAction<Args extends unknown[]>(work: (...args: Args) => Promise<unknown>): Action<Args> {
  const [state, setState] = useState<{ isRunning: boolean; error: unknown }>({
    isRunning: false,
    error: undefined,
  })
  return {
    ...state,
    async run(...args) {
      setState({ isRunning: true, error: undefined })
      try {
        await work(...args)
        setState({ isRunning: false, error: undefined })
      } catch (error) {
        noteRefusal(error)
        setState({ isRunning: false, error })
      }
    },
  }
}
