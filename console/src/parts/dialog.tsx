import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

type Props = { title: string; onClose: () => void; children: ComponentChildren }

/** Open as long as it is rendered. The browser keeps the focus in it and restores it afterwards. */
export function Dialog({ title, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  /** A text selection with the mouse may end outside, which is not a click outside. */
  const isPressedOutside = useRef(false)
  useEffect(() => {
    element.current?.showModal()
  }, [])
  return (
    <dialog
      ref={element}
      aria-labelledby={titleId}
      onClose={onClose}
      onPointerDown={(event) => {
        isPressedOutside.current = event.target === element.current
      }}
      onClick={(event) =>
        isPressedOutside.current && event.target === element.current && element.current?.close()
      }
      onKeyDown={() => undefined}
    >
      <div class="dialog-body">
        <header>
          <h2 id={titleId}>{title}</h2>
          <button type="button" class="ghost" aria-label="Close" onClick={() => element.current?.close()}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}
