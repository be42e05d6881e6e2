// A dialog with a form: Enter submits it; it closes on success, and stays open with the error otherwise.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useAction } from '../api/use-action.ts'
import { Dialog } from './dialog.tsx'
import { ErrorNote } from './error-note.tsx'
import '../styles/forms.css'

type Props = {
  title: string
  /** The text of the submit button. */
  submit: string
  /** False while the form is invalid. */
  canSubmit?: boolean
  work: () => Promise<unknown>
  onClose: () => void
  /** May show errors at fields. */
  children: ComponentChildren | ((error: unknown) => ComponentChildren)
  /** True for errors that are shown at a field, and therefore not below. */
  isAtField?: (error: unknown) => boolean
}

export function FormDialog(props: Props) {
  const { title, submit, canSubmit = true, work, onClose, children, isAtField } = props
  const form = useRef<HTMLFormElement>(null)
  const action = useAction(async () => {
    await work()
    onClose()
  })
  // The browser would focus the first element of the dialog, the close button.
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
        <FormEnd submit={submit} canSubmit={canSubmit && !action.isRunning} onClose={onClose} />
      </form>
    </Dialog>
  )
}

/** `isDone`: the form was submitted, and shows a result. */
export function FormEnd(props: {
  submit: string
  canSubmit: boolean
  isDone?: boolean
  onClose: () => void
}) {
  const { submit, canSubmit, isDone, onClose } = props
  return (
    <footer class="form-end">
      <button type="button" onClick={onClose}>
        {isDone ? 'Close' : 'Cancel'}
      </button>
      {!isDone && (
        <button type="submit" class="primary" disabled={!canSubmit}>
          {submit}
        </button>
      )}
    </footer>
  )
}
