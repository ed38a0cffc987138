"""Messages that visit mote after mote: each receives one, serves it on its CPU and sends it on.

`visitor` puts a visit together from the parts of any MAC and CPU. Where the air is bare (`network/mac/bare.py`) the same visit is one
function, `network/mac/bare_visit.py`.
"""

from network.contract import Handler, Links, Message, Processors, Service


def visitor(links: Links, cpus: Processors, service: Service) -> Handler:
    """A delivery handler that serves messages and sends them on."""

    def visit(message: Message) -> None:
        node, body = message.target, message.body
        start_us = cpus.admit(node)
        if start_us is None:
            service.refuse(message)
            return
        done_us = cpus.occupy(node, start_us, service.serve(message, start_us))
        kind = service.onward(body)
        if kind is None:
            service.end(body, done_us)
        else:
            links.unicast(kind, node, service.target, service.body_bytes, body, done_us)

    return visit
