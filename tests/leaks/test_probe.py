
from tests.leaks.place import *
from tests.leaks.bodies import body_of
from tests.web.routes import addresses
import time
from contextlib import ExitStack
def test_probe(guarded):
    out=open("/tmp/matrix.txt","w"); texts=open("/tmp/texts.txt","w")
    t0=time.process_time()
    with ExitStack() as st:
        cl={r: st.enter_context(guarded.client(r)) for r in ROLES}
        for a in addresses(guarded.site.app):
            row=[]
            for role in ROLES:
                r=cl[role].send(a.method, guarded.fill(a), **body_of(str(a),guarded.names)); row.append(r.status_code)
                if a.method!="GET": guarded.restore()
                if r.status_code>=400: print(a, role, r.status_code, r.text[:300] if r.text.startswith("{") else r.text.split("<main")[-1][:900], file=texts)
            print(f"{a.method:6} {a.template:97}", *row, file=out, flush=True)
    print("CPU", time.process_time()-t0, file=out)
