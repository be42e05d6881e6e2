// Named filters for each screen with filters, stored in this browser for each owner.

import { computed, signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { shownSelf } from '../api/self.ts'
import { path, search } from '../router.ts'
import { TextField } from './field.tsx'
import { FormDialog } from './form-dialog.tsx'
import { Icon } from './icon.tsx'

export type SavedView = { name: string; href: string }

const keptAtMost = 50
const nameAtMost = 60
const changes = signal(0)
const storageKey = () => `jobcast-views ${shownSelf.value?.ownerId}`

export const savedViews = computed<SavedView[]>(() => {
  changes.value // causes a new read after each change
  return readViews(localStorage.getItem(storageKey()))
})

addEventListener('storage', ({ key }) => {
  if (key?.startsWith('jobcast-views')) changes.value++
})

/** Accepts any stored text, because another version of the console may have written it. */
function readViews(text: string | null): SavedView[] {
  try {
    const views: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(views) ? views.filter(isView).slice(0, keptAtMost) : []
  } catch {
    return []
  }
}

function isView(value: unknown): value is SavedView {
  const { name, href } = (value ?? {}) as Partial<SavedView>
  return typeof name === 'string' && typeof href === 'string' && /^\/[a-z]+\?/.test(href)
}

function writeViews(views: SavedView[]): void {
  localStorage.setItem(storageKey(), JSON.stringify(views))
  changes.value++
}

export function SavedViews() {
  const [isNaming, setNaming] = useState(false)
  const here = `${path.value}?${search.value}`
  const own = savedViews.value.filter(({ href }) => href.startsWith(`${path.value}?`))
  const current = own.find(({ href }) => href === here)
  const canSave = search.value.size > 0 && !current && savedViews.value.length < keptAtMost
  if (own.length === 0 && !canSave) return null
  return (
    <div class="saved-views">
      {own.map(({ name, href }) => (
        <a key={name} class="tag" href={href} aria-current={href === here ? 'page' : undefined}>
          {name}
        </a>
      ))}
      {canSave && (
        <button type="button" class="ghost" onClick={() => setNaming(true)}>
          Save view
        </button>
      )}
      {current && (
        <button
          type="button"
          class="ghost"
          aria-label={`Remove view ${current.name}`}
          onClick={() => writeViews(savedViews.value.filter((view) => view !== current))}
        >
          <Icon name="close" />
          Remove view
        </button>
      )}
      {isNaming && <NameView href={here} onClose={() => setNaming(false)} />}
    </div>
  )
}

function NameView({ href, onClose }: { href: string; onClose: () => void }) {
  const [text, setText] = useState('')
  const name = text.trim().slice(0, nameAtMost)
  const save = async () => {
    // A view with the same name is replaced.
    const others = savedViews.value.filter(
      (view) => view.name !== name || new URL(view.href, location.href).pathname !== path.value,
    )
    writeViews([...others, { name, href }])
  }
  return (
    <FormDialog title="Save view" submit="Save" canSubmit={name !== ''} work={save} onClose={onClose}>
      <TextField
        label="Name"
        required
        value={text}
        onInput={setText}
        hint="The filters of this screen, in this browser. Ctrl-K finds it by its name."
      />
    </FormDialog>
  )
}
