import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { attentionCount, screenTitle } from './screen-title.ts'

type Props = {
  /** The title of the tab, and by default the heading. */
  title: string
  heading?: ComponentChildren
  /** A description in small type after the title. */
  about?: ComponentChildren
  /** Buttons at the right. */
  children?: ComponentChildren
}

/** The header of every screen; it also sets the title of the tab. */
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
