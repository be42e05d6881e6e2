// A dialog with a form: Enter sends it, it stays open with the error if that fails, and closes if not.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useAction } from '../api/use-action.ts'
import { Dialog } from './dialog.tsx'
import { ErrorNote } from './error-note.tsx'
import '../styles/forms.css'

type Props = {
  title: string
  /** On the button that sends it. */
  submit: string
  /** False while something in it is wrong. */
  canSubmit?: boolean
  work: () => Promise<unknown>
  onClose: () => void
  /** May show what was refused at a field. */
  children: ComponentChildren | ((error: unknown) => ComponentChildren)
  /** Shown there, so not again below. */
  isAtField?: (error: unknown) => boolean
}

export function FormDialog(props: Props) {
  const { title, submit, canSubmit = true, work, onClose, children, isAtField } = props
  const form = useRef<HTMLFormElement>(null)
  const action = useAction(async () => {
    await work()
    onClose()
  })
  // The browser gives the focus to the first thing in a dialog, which is how to close it.
  useEffect(() => form.current?.querySelector<HTMLElement>('input, textarea, select')?.focus(), [])
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        ref={form}
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (canSubmit && !action.isRunning) void action.run()
        }}
      >
        {typeof children === 'function' ? children(action.error) : children}
        {!isAtField?.(action.error) && <ErrorNote error={action.error} />}
        <footer class="form-end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={!canSubmit || action.isRunning}>
            {submit}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
