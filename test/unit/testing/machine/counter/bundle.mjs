// Posts once more where it cannot tell whether the first has arrived: a planted fault.
export async function run({ payload }, { storage, network }) {
  const url = 'https://api.example.com/adds'
  const post = () => network.request({ url, method: 'POST', body: String(payload.by) })
  await post().catch(post)
  const total = (storage.get('total') ?? 0) + payload.by
  storage.set('total', total)
  return { total }
}
