import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { attentionCount, screenTitle } from './screen-title.ts'

type Props = {
  /** Names the tab, and is the heading unless there is another. */
  title: string
  heading?: ComponentChildren
  /** What it is about, in small, behind the title. */
  about?: ComponentChildren
  /** Buttons, at the right. */
  children?: ComponentChildren
}

/** The head of every screen; it also names the tab. */
export function PageHeader({ title, heading = title, about, children }: Props) {
  const count = attentionCount.value
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}${title} · Jobcast`
    screenTitle.value = title
  }, [title, count])
  return (
    <header class="page-header">
      <div>
        <h1 tabIndex={-1}>{heading}</h1>
        {about && <p class="quiet">{about}</p>}
      </div>
      {children && <div class="actions">{children}</div>}
    </header>
  )
}
