/**
 * The script of a page that is not the console: sends all that a browser lets a page send to the
 * console at `origin`, with `body` as an answer, and gives what it could read of what came back.
 */
globalThis.attack = async ({ origin, body }) => {
  const got = []
  const paths = ['/api/runs', '/api/waits', '/api/message', '/session', '/api/feed']
  const types = ['text/plain', 'application/json', 'application/x-www-form-urlencoded']
  for (const path of paths) {
    for (const mode of ['cors', 'no-cors']) {
      for (const method of ['GET', 'POST']) {
        for (const type of types) {
          for (const own of [{}, { 'x-tally': '1' }]) {
            const sent = method === 'GET' ? {} : { body }
            const headers = { 'content-type': type, ...own }
            try {
              const credentials = 'include'
              const init = { method, mode, credentials, headers, ...sent }
              const response = await fetch(origin + path, init)
              const text = await response.text()
              if (text !== '' || response.ok) got.push(`${method} ${path} ${mode}: ${text}`)
            } catch {
              // The browser gives nothing away.
            }
          }
        }
      }
    }
  }
  const heard = (url) =>
    new Promise((resolve) => {
      const source = new EventSource(url, { withCredentials: true })
      source.onmessage = ({ data }) => got.push(`event ${String(data)}`)
      source.onopen = () => got.push('the feed is open')
      source.onerror = () => {
        source.close()
        resolve()
      }
    })
  await heard(`${origin}/api/feed`)
  await new Promise((resolve) => {
    const socket = new WebSocket(`${origin.replace('http', 'ws')}/api/feed`)
    socket.onopen = () => got.push('the socket is open')
    socket.onerror = socket.onclose = () => resolve()
  })
  const element = (name, set) =>
    new Promise((resolve) => {
      const made = Object.assign(document.createElement(name), set)
      made.onload = made.onerror = () => resolve(made)
      document.body.append(made)
    })
  await element('script', { src: `${origin}/api/runs` })
  await element('img', { src: `${origin}/api/runs` })
  const frame = await element('iframe', { src: `${origin}/waits` })
  if (frame.contentDocument !== null) got.push('the frame is readable')
  for (const enctype of ['text/plain', 'application/x-www-form-urlencoded']) {
    const target = await element('iframe', { name: enctype })
    const form = document.createElement('form')
    const field = Object.assign(document.createElement('input'), { name: body, value: '' })
    Object.assign(form, { method: 'post', action: `${origin}/api/message`, enctype })
    form.target = target.name
    form.append(field)
    document.body.append(form)
    const loaded = new Promise((resolve) => target.addEventListener('load', resolve))
    form.submit()
    await loaded
  }
  return got
}
