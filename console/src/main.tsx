import './styles/tokens.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/parts.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { keepPageScroll } from './kept-scroll.ts'
import { listenToLinks } from './router.ts'
import { applyTheme } from './theme.ts'

applyTheme()
listenToLinks()
keepPageScroll()
render(<App />, document.getElementById('app') as HTMLElement)
