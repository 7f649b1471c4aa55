import re,os,subprocess
moves=[]
for l in open('tmp/mv.sh'): pass
out=subprocess.run(['git','diff','--cached','-M','--name-status'],capture_output=True,text=True).stdout
for l in out.splitlines():
    p=l.split('\t')
    if p[0].startswith('R'): moves.append((p[1],p[2]))
import glob
def load(f): return open(f).read()
def addto(mk,var,path):
    t=load(mk) if os.path.exists(mk) else ''
    m=re.search(r'^%s \+= \\\n((?:  .*\n)+)'%re.escape(var),t,re.M)
    if m:
        items=[x.strip().rstrip('\\').strip() for x in m.group(1).splitlines()]
    else: items=[]
    items=sorted(set(items+[path]))
    blk=var+' += \\\n'+' \\\n'.join('  '+i for i in items)+'\n'
    if m: t=t[:m.start()]+blk+t[m.end():]
    else: t=(t+'\n' if t else '')+blk
    open(mk,'w').write(t)
for old,new in moves:
    isTest=old.startswith('tests/')
    p=old[:-2] if isTest else old
    found=None
    for mk in glob.glob('src/**/Makefile.mk',recursive=True):
        t=load(mk)
        pat=re.compile(r'^  %s( \\)?\n'%re.escape(p),re.M)
        m=pat.search(t)
        if not m: continue
        # variable
        var=re.findall(r'^(\w+) \+= \\$',t[:m.start()],re.M)[-1]
        if not m.group(1): # last: strip previous backslash
            t=t[:m.start()]+t[m.end():]
            pos=m.start()
            t=re.sub(r' \\\n\Z','\n',t[:pos])+t[pos:]
        else: t=t[:m.start()]+t[m.end():]
        open(mk,'w').write(t); found=(mk,var)
    if not found: print('not found',old); continue
    room=os.path.dirname(new)
    if isTest: room='src/'+room[len('tests/unit/'):]
    addto(room+'/Makefile.mk',found[1],new[:-2] if isTest else new)
    print(old,'->',new,found[1])
